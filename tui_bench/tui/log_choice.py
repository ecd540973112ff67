"""Which logs a cell has: those of its attempts in order, the agent's before the verify's.

Paths come out of a ledger that may be somebody else's, so only files below the run's own folder are ever named.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui_bench.analysis.state import CellKey, Code, Running, RunState
from tui_bench.errors import LedgerError
from tui_bench.ledger.reader import read_at
from tui_bench.ledger.rows import AttemptRow
from tui_bench.ledger.runs import Layout

Part = Literal["agent", "verify"]
PARTS: tuple[Part, ...] = ("agent", "verify")
_PHASE_PART: dict[str, Part] = {"verify": "verify", "replays": "verify"}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One log of a cell. `path` is None where there is no file; `note` then says why, in foreign words."""

    key: CellKey
    number: int
    part: Part
    path: Path | None
    growing: bool
    note: tuple[str, ...] = ()

    @property
    def name(self) -> tuple[int, Part]:
        """What it is called within its cell."""
        return self.number, self.part


def entries(state: RunState, layout: Layout, key: CellKey) -> list[LogEntry]:
    """The logs of all attempts of a cell that have begun; one entry with a note where none has."""
    found: list[LogEntry] = []
    running = {one.number: one for one in state.running.values() if one.key == key and one.role == "planned"}
    for number in range(state.attempts):
        if number in running:
            found += _running_entries(state, layout, running[number])
        else:
            found += _finished_entries(state, layout, key, number)
    return found or [LogEntry(key, 0, "verify", None, False, (_nothing(state, key),))]


def default_entry(state: RunState, found: list[LogEntry]) -> LogEntry:
    """What a person most likely wants: what grows, else the verify of the first attempt that did not pass."""
    growing = [entry for entry in found if entry.growing]
    if growing:
        newest = max(entry.number for entry in growing)
        wanted = [entry for entry in growing if entry.number == newest]
        part = _current_part(state, wanted[0].key, newest)
        return next((entry for entry in wanted if entry.part == part), wanted[0])
    cell = state.cell(*found[0].key)
    for entry in found:
        if entry.part == "verify" and cell.code(entry.number) in (Code.FAIL, Code.VOID):
            return entry
    return next((entry for entry in found if entry.part == "verify"), found[0])


def _current_part(state: RunState, key: CellKey, number: int) -> Part:
    for one in state.running.values():
        if one.key == key and one.number == number:
            return _PHASE_PART.get(one.phase or "", "agent" if state.subject == "agent" else "verify")
    return "agent"


def _running_entries(state: RunState, layout: Layout, one: Running) -> list[LogEntry]:
    folder = inside(layout, one.folder)
    parts: tuple[Part, ...] = PARTS if state.subject == "agent" else ("verify",)
    if folder is None:
        return [LogEntry(one.key, one.number, parts[0], None, True, ("running; the ledger names no log folder",))]
    return [LogEntry(one.key, one.number, part, folder / f"{part}.log", True) for part in parts]


def _finished_entries(state: RunState, layout: Layout, key: CellKey, number: int) -> list[LogEntry]:
    offset = state.cell(*key).offset(number)
    if offset is None:
        return []
    try:
        row = read_at(layout.ledger, offset)
    except LedgerError as error:
        return [LogEntry(key, number, "verify", None, False, (str(error),))]
    if not isinstance(row, AttemptRow):
        return []
    found: list[LogEntry] = []
    for part in PARTS:
        named = row.files.get(f"{part}_log")
        path = inside(layout, named.path) if named else None
        if path is not None:
            found.append(LogEntry(key, number, part, path, False, row_note(row)))
    return found or [LogEntry(key, number, "verify", None, False, row_note(row))]


def row_note(row: AttemptRow) -> tuple[str, ...]:
    """What the row itself tells, for an attempt without log files."""
    lines = [f"void: {row.void}" + (f", {row.void_detail}" if row.void_detail else "")] if row.void else []
    for tail in (row.verify_stdout_tail, row.verify_stderr_tail):
        lines += tail.splitlines() if tail else []
    return tuple(lines) or ("no log was kept",)


def _nothing(state: RunState, key: CellKey) -> str:
    excluded = state.excluded.get(key[0])
    if excluded is not None:
        return f"not run: excluded, {excluded.outcome}: {excluded.reason}"
    return "not run" if state.over else "queued: no attempt has begun"


def inside(layout: Layout, relative: str | None) -> Path | None:
    """A path of the ledger below the run's files folder; None where it leads elsewhere."""
    if not relative or "\0" in relative:
        return None
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts:
        return None
    return layout.files / path
