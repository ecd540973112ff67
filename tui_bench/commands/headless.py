"""The runner without a screen: progress on stderr, banner and summary on stdout, the gate's exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable

from tui_bench.analysis.state import RunState
from tui_bench.cleaning import clean
from tui_bench.commands.plain import PlainReport
from tui_bench.commands.progress import Progress
from tui_bench.commands.verdict_text import closing_lines, exit_code
from tui_bench.engine.plan import Selection
from tui_bench.engine.reruns import Asked
from tui_bench.engine.runner import Runner
from tui_bench.engine.setup import Prepared, set_up, set_up_resume
from tui_bench.ledger.rows import REPLACE_LIMIT, REPLACEABLE_CAUSES, AnyRow
from tui_bench.ledger.runs import Layout
from tui_bench.reading import read_ledger
from tui_bench.recent import remember
from tui_bench.study.model import Study

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130

SetUp = Callable[[Callable[[AnyRow], None]], Awaitable[Prepared | None]]


def run_new(study: Study, selection: Selection, layout: Layout, run_id: str, *, plain: bool, strict: bool) -> int:
    """Run a study to its end; returns the exit code."""

    async def make(observe: Callable[[AnyRow], None]) -> Prepared:
        prepared = await set_up(study, selection, layout, run_id, observe)
        remember(layout.ledger, study.root)
        return prepared

    return _run(make, layout, plain=plain, strict=strict)


def run_resumed(layout: Layout, *, jobs: int | None, asked: Asked | None, plain: bool, strict: bool) -> int:
    """Go on with a ledger, or make only what is asked; returns the exit code."""
    return _run(lambda observe: set_up_resume(layout, jobs, observe, asked), layout, plain=plain, strict=strict)


def _run(make: SetUp, layout: Layout, *, plain: bool, strict: bool) -> int:
    before = read_ledger(layout.ledger) if layout.ledger.exists() else None
    report = PlainReport(sys.stdout, before) if plain else None
    progress = report if report is not None else Progress(sys.stderr, every_event=False, state=before)
    outcome = asyncio.run(_drive(make, progress))
    if report is not None:
        report.show_gates()
        report.show_reasons()
    state = read_ledger(layout.ledger)
    if outcome is None:
        print(clean(_nothing_to_do(state, layout)), file=sys.stderr)
    for line in closing_lines(state, layout.ledger, strict=strict):
        print(line)
    return INTERRUPTED if outcome == "signalled" else exit_code(state, strict=strict)


def _nothing_to_do(state: RunState, layout: Layout) -> str:
    """Why a resume has nothing to make, with the attempts that were lost too often to be made again."""
    lost = sum(count for (cause, _), count in state.void_counts.items() if cause in REPLACEABLE_CAUSES)
    said = f"nothing to do: every planned attempt has its row in {layout.ledger}"
    if not lost:
        return said
    return f"{said}; {lost} stay void, lost {REPLACE_LIMIT + 1} times each, which is the limit: start a new run"


async def _drive(make: SetUp, progress: Progress | PlainReport) -> str | None:
    """How the run ended, `signalled` where a signal ended it, None where nothing was left to do."""
    prepared = await make(progress.show)
    if prepared is None:
        return None
    progress.show_differences()
    loop = asyncio.get_running_loop()
    presses = _Presses(prepared.runner)
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, presses.again, number)
    try:
        how = await prepared.run()
        return "signalled" if presses.count else how
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
        for failure in prepared.failures:
            print(clean(f"not removed: {failure}"), file=sys.stderr)


class _Presses:
    """First signal: end what runs and write its rows. Second: leave at once; resume writes what is missing."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.count = 0

    def again(self, number: signal.Signals) -> None:
        self.count += 1
        if self.count > 1:
            # The slots' supervisors see their pipe close and kill whatever still runs.
            os._exit(INTERRUPTED)
        running = self._runner.running
        print(f"{number.name}: ending {running} running attempts; once more leaves at once", file=sys.stderr)
        self._runner.stop("interrupted", f"{number.name} received")
