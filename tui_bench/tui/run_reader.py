"""What a list of runs says of one ledger, read a bounded piece at a time and again only when the file has grown.

The chain is followed while reading, so an edited ledger never shows an open gate. A ledger above `READ_MOST` is not
folded: its first row and its end say which run it is and how it stands.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from tui_bench.analysis.banner import banner
from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.ledger.chain import Chain
from tui_bench.ledger.lines import RawLine, Splitter, parsed
from tui_bench.ledger.rows import ROW_LIMIT
from tui_bench.ledger.tail import Tail
from tui_bench.reading import DAMAGE_KEPT, follow
from tui_bench.tui.clock import seconds_of
from tui_bench.tui.link import RunnerState
from tui_bench.tui.widgets.status import Facts, facts

POLL_BYTES = 512 * 1024
PIECE_S = 0.05
READ_MOST = 64 * 1024 * 1024
"""Bytes up to which a ledger is folded for a list: a second of work."""
END_BYTES = 4 * ROW_LIMIT


@dataclass(frozen=True, slots=True)
class Summary:
    """One run in a list. Texts are not cleaned yet."""

    ledger: Path
    facts: Facts | None = None
    """None while nothing is known."""
    begun: float | None = None
    """Seconds since the epoch."""
    share: float = 0.0
    """How much of the ledger has been read, 0 to 1."""
    verdict: tuple[str, ...] = ()
    damage: tuple[str, ...] = ()
    large: bool = False
    """Too large to be folded for a list: counts and verdict are not known."""
    reason: str = ""
    """Why there is nothing to say, where there is not."""

    @property
    def resumable(self) -> bool:
        """Whether `resume` could go on with it."""
        life = self.facts.life if self.facts is not None else None
        return life in ("lost", "stopped") and not self.damage


class RunReader:
    """One ledger of a list. `step` may run in a thread; `summary` is cheap."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self.behind = True
        """There is more to read at once."""
        self._tail = Tail(ledger, POLL_BYTES)
        self._seen: tuple[int, int, int] | None = None
        self._size = 0
        self._verdict: tuple[str, ...] = ()
        self._forget()

    def _forget(self) -> None:
        self._state, self._chain, self._large = RunState(), Chain(), False
        self._slim = False

    def step(self) -> None:
        """Read for a short while. Never raises on what lies there."""
        stamp = self._stamp()
        if stamp is not None and stamp == self._seen:
            self.behind = False
            return
        if stamp is not None and stamp[2] > READ_MOST:
            self._look_at_ends(stamp[2])
            self._seen, self.behind = stamp, False
            return
        if self._slim:
            self._tail.close()
            self._forget()
        deadline = time.monotonic() + PIECE_S
        while True:
            self._poll()
            if not self._tail.more or time.monotonic() > deadline:
                break
        self.behind = self._tail.more
        if not self.behind:
            self._seen = stamp
            self._verdict = tuple(banner(self._state)) if self._state.rows else ()
            self._slim_down()

    def _slim_down(self) -> None:
        """A run that is over needs its cells no more; should it be resumed, it is read anew."""
        if self._state.over and self._state.rows:
            self._slim = True
            self._state.cells.clear()

    def close(self) -> None:
        """Give up the file."""
        self._tail.close()

    def summary(self, now: float, runner: RunnerState) -> Summary:
        """What is known now."""
        state = self._state
        if not state.rows:
            return Summary(self.ledger, reason=self._nothing(), damage=tuple(state.damage))
        found = facts(state, now, linked=runner == "alive", quiet_s=None)
        if runner == "gone" and not state.over:
            found = replace(found, life="lost", left=None)
        return Summary(
            self.ledger, found, seconds_of(state.run.at) if state.run is not None else None,
            1.0 if self._large or not self._size else min(1.0, self._tail.offset / self._size),
            () if self.behind or self._large else self._verdict, tuple(state.damage), self._large,
        )  # fmt: skip

    def _nothing(self) -> str:
        if self._tail.state == "missing":
            return "no such file"
        if self._tail.state == "unreadable":
            return f"cannot be read: {self._tail.reason}"
        return "no row yet"

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.ledger.stat()
        except OSError:
            return None
        self._size = found.st_size
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _poll(self) -> None:
        lines = self._tail.poll_raw()
        if self._tail.reset or self._large:
            self._forget()
        for raw in lines:
            self._take(raw)

    def _take(self, raw: RawLine) -> None:
        line = parsed(raw)
        faults = follow(self._chain, raw, line)
        if line.row is not None:
            fold(self._state, line.row, line.offset)
        if faults and len(self._state.damage) < DAMAGE_KEPT:
            self._state.damage.append(f"line {line.number}: {faults[0]}")

    def _look_at_ends(self, size: int) -> None:
        """The first row and the last ones of a large ledger."""
        self._forget()
        self._large = True
        try:
            with self.ledger.open("rb") as file:
                first = file.read(ROW_LIMIT + 1)
                file.seek(max(0, size - END_BYTES))
                end = file.read(END_BYTES)
        except OSError:
            return
        for data in (first.partition(b"\n")[0] + b"\n", end.partition(b"\n")[2]):
            for raw in Splitter().feed(data):
                row = parsed(raw).row
                if row is not None:
                    fold(self._state, row, 0)
