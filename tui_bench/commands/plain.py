"""A ledger as lines of text: one an event, the gate whenever its word changes, the end with reasons and verdict.

For screen readers, pipes and CI. A finished ledger gives the same lines as one that was followed from its first row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TextIO

from tui_bench.analysis.banner import gates
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording.void_text import void_lines
from tui_bench.cleaning import clean
from tui_bench.commands.progress import Progress
from tui_bench.commands.verdict_text import closing_lines, exit_code
from tui_bench.engine.requests import RequestClient
from tui_bench.ledger.rows import AnyRow, AttemptRow
from tui_bench.ledger.runs import Layout
from tui_bench.ledger.tail import Tail
from tui_bench.reading import read_ledger

POLL_S = 0.2
LOOKS = 200
"""Times in a run that the gates are looked at: after every attempt in a small one."""
GONE_S = 3.0
"""A runner's last rows may still be under way that long after its process ended."""


class PlainReport:
    """Turns rows into lines. Keeps its own fold for the gates, so it needs nothing but rows."""

    def __init__(self, out: TextIO, state: RunState | None = None) -> None:
        """`state` holds rows that were written before and are not shown."""
        self._out = out
        self._progress = Progress(out, every_event=True, state=state, clock=lambda: self._now)
        self._now = 0.0
        self._told: dict[str, str] = {}

    def show(self, row: AnyRow, offset: int = 0) -> None:
        """Print what the row tells, and the gates whose word it changed."""
        self._now = _seconds(row.at, self._now)
        self._progress.show(row, offset)
        if isinstance(row, AttemptRow) and self.state.done % max(1, self.state.planned // LOOKS) == 0:
            self.show_gates()

    @property
    def state(self) -> RunState:
        """All rows so far."""
        return self._progress.state

    def show_differences(self) -> None:
        """What the environments differ in beyond what the study declares."""
        self._progress.show_differences()

    def show_gates(self) -> None:
        """Print the gates that have another word than when they were printed last."""
        for one in gates(self.state):
            if self._told.get(one.agent) != one.state:
                self._told[one.agent] = one.state
                self.say(one.line)

    def say(self, line: str) -> None:
        print(clean(line), file=self._out, flush=True)

    def show_reasons(self) -> None:
        """Print why attempts are void, one line a cause with what to do."""
        counts: dict[str, int] = {}
        for (cause, _), count in self.state.void_counts.items():
            counts[cause] = counts.get(cause, 0) + count
        for line in void_lines({cause: count for cause, count in counts.items() if count}):
            self.say(f"void: {line}")


def _seconds(at: str, before: float) -> float:
    """A row's time: the same line, whether it is read at once or years later. `before` where it is no time."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return before


def follow(layout: Layout, out: TextIO, *, strict: bool, sleep: Callable[[float], None] = time.sleep) -> int:
    """Print a ledger from its first row until its run is over or its runner is gone; returns the gate's exit code."""
    report, tail, link = PlainReport(out), Tail(layout.ledger), RequestClient(layout.runner)
    quiet = 0.0
    while True:
        lines = tail.poll()
        if tail.reset and report.state.rows:
            report.say("the ledger was replaced: read anew from its first row")
            report = PlainReport(out)
        for line in lines:
            if line.row is not None:
                report.show(line.row, line.offset)
            elif line.fault is not None:
                report.say(f"line {line.number}: {line.fault.message}")
        quiet = 0.0 if lines else quiet + POLL_S
        if tail.more:
            continue
        if report.state.over and report.state.rows:
            break
        if quiet >= GONE_S and layout.runner.exists() and not link.alive:
            report.say(f"the runner is gone: `tui-bench resume {layout.ledger}` goes on")
            break
        sleep(POLL_S)
    tail.close()
    return close(report, layout, strict=strict)


def close(report: PlainReport, layout: Layout, *, strict: bool) -> int:
    """Print reasons and verdict of the whole ledger, its chain checked; returns the gate's exit code."""
    report.show_gates()
    report.show_reasons()
    state = read_ledger(layout.ledger)
    for line in closing_lines(state, layout.ledger, strict=strict):
        report.say(line)
    return exit_code(state, strict=strict)
