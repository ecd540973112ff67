"""From the ledger to the screen: poll, fold, collect what changed; a bounded piece of work at each step.

The state is the fold of all complete lines read so far and of nothing else. A ledger that was cut or replaced starts a
new state.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from tui_bench import checkpoint
from tui_bench.analysis.fold import Changed, fold
from tui_bench.analysis.state import RunState
from tui_bench.checkpoint import Checkpoint
from tui_bench.ledger.lines import Line
from tui_bench.ledger.tail import State, Tail
from tui_bench.reading import DAMAGE_KEPT

POLL_BYTES = 256 * 1024
STEP_S = 0.04
"""Time after which a step stops even though there is more to read: keys are answered in between."""
ROWS_A_STEP = 5000


@dataclass(frozen=True, slots=True)
class Step:
    """What one step brought. `behind` when there is more to read at once."""

    changed: frozenset[Changed]
    rows: int
    reset: bool
    behind: bool


class Feed:
    """A ledger that is followed. `monotonic` gives seconds of a clock that never jumps."""

    def __init__(self, ledger: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.state = RunState()
        self.behind = True
        self._tail = Tail(ledger, POLL_BYTES)
        self._monotonic = monotonic
        self._moved_at: float | None = None
        self._loading = _load_apart(ledger) if checkpoint.exists(ledger) else None

    @property
    def file_state(self) -> State:
        """Whether the ledger can be read at all."""
        return self._tail.state if self._loading is None else "reading"

    @property
    def file_reason(self) -> str | None:
        """The system's words where it cannot."""
        return self._tail.reason

    @property
    def quiet_s(self) -> float | None:
        """Seconds since a line last arrived while we were looking; None where none has."""
        return None if self._moved_at is None else self._monotonic() - self._moved_at

    def step(self) -> Step:
        """Read and fold until there is no more, the time is up or the rows are."""
        if self._loading is not None:
            return self._take_checkpoint(self._loading)
        deadline = self._monotonic() + STEP_S
        changed: set[Changed] = set()
        rows, reset = 0, False
        while True:
            lines = self._tail.poll()
            if self._tail.reset:
                self.state = RunState()
                changed.clear()
                reset = True
            for line in lines:
                changed.update(self._fold(line))
            rows += len(lines)
            if not self._tail.more or rows >= ROWS_A_STEP or self._monotonic() > deadline:
                break
        if rows and not self.behind:
            self._moved_at = self._monotonic()
        self.behind = self._tail.more
        return Step(frozenset(changed), rows, reset, self.behind)

    def _take_checkpoint(self, loading: Future[Checkpoint | None]) -> Step:
        """Go on from what the ledger was folded to before, once that is verified."""
        if not loading.done():
            return Step(frozenset(), 0, False, True)
        self._loading = None
        found = loading.result()
        if found is None:
            return Step(frozenset(), 0, False, True)
        self.state = found.state
        self._tail.begin_at(found.offset, found.lines + 1, found.before)
        return Step(frozenset(), found.lines, True, True)

    def close(self) -> None:
        """Give up the file."""
        self._tail.close()

    def _fold(self, line: Line) -> tuple[Changed, ...]:
        """A row goes into the fold; a line that is none is kept as damage, or as an unknown kind."""
        if line.row is not None:
            return tuple(fold(self.state, line.row, line.offset))
        if line.fault is not None and line.fault.kind == "unknown_kind":
            self.state.unknown[f"rows of kind {line.fault.name}"] += 1
        elif line.fault is not None and len(self.state.damage) < DAMAGE_KEPT:
            self.state.damage.append(f"line {line.number}: {line.fault.message}")
        return ("status",)


def _load_apart(ledger: Path) -> Future[Checkpoint | None]:
    """Load in a thread that nobody waits for: the prefix of a large ledger takes a second to verify."""
    found: Future[Checkpoint | None] = Future()
    threading.Thread(target=lambda: found.set_result(checkpoint.load(ledger)), daemon=True).start()
    return found
