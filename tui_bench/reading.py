"""Reading a whole ledger into the state that every table is made of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tui_bench import checkpoint
from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.checkpoint import Checkpoint
from tui_bench.ledger.chain import Chain
from tui_bench.ledger.lines import Line, Link, RawLine, link_of, parsed
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import GENESIS, AnyRow

SAVE_SHARE = 10
"""A checkpoint is made anew when more than a tenth has come since."""
DAMAGE_KEPT = 20
"""So many findings are named; a ledger that is no ledger has one a line."""


def read_ledger(path: Path | str) -> RunState:
    """Fold all rows of a ledger and verify its chain; of a large one only what is new since it was last read whole.

    What does not follow is named in `state.damage`, which stops every gate; it is never guessed at. Raises LedgerError
    when the file cannot be read.
    """
    found = checkpoint.load(Path(path))
    if found is None:
        return _read_on(Path(path), Checkpoint(RunState(), 0, 0, GENESIS, hashlib.sha256()))
    return _read_on(Path(path), found)


def _read_on(path: Path, start: Checkpoint) -> RunState:
    state, chain = start.state, Chain()
    chain.advance(start.lines, start.head)
    offset, lines = start.offset, start.lines
    for raw in scan(path, offset, lines + 1).raw():
        line = parsed(raw)
        faults = follow(chain, raw, line)
        if line.row is not None:
            fold(state, line.row, line.offset)
        elif not faults and line.fault is not None:
            state.unknown[f"kind {line.fault.name}"] += 1
        if faults and len(state.damage) < DAMAGE_KEPT:
            state.damage.append(f"line {line.number}: {faults[0]}")
        start.digest.update(raw.data or b"")
        start.digest.update(b"\n")
        offset, lines = raw.offset + raw.length + 1, raw.number
    if lines - start.lines > start.lines // SAVE_SHARE:
        checkpoint.save(path, Checkpoint(state, offset, lines, chain.head, start.digest))
    return state


def find_damage(path: Path | str) -> list[str]:
    """The first findings of `read_ledger`, without folding. Raises LedgerError when the file cannot be read."""
    found = checkpoint.load(Path(path))
    chain, damage = Chain(), list[str]()
    offset, lines = (found.offset, found.lines) if found is not None else (0, 0)
    if found is not None:
        chain.advance(lines, found.head)
    for raw in scan(path, offset, lines + 1).raw():
        faults = follow(chain, raw, parsed(raw))
        if faults:
            damage.append(f"line {raw.number}: {faults[0]}")
        if len(damage) == DAMAGE_KEPT:
            break
    return damage


def follow(chain: Chain, raw: RawLine, line: Line) -> list[str]:
    """Take the next line into the chain: its own fault, or how it does not follow from the one before; mostly none."""
    link: Link | AnyRow | None = line.row
    if line.fault is not None and line.fault.kind == "unknown_kind" and raw.data is not None:
        link = link_of(raw.data)
    if link is None or raw.data is None:
        chain.skip()
        return [line.fault.message if line.fault is not None else "is no row"]
    return chain.add(link, raw.data)
