"""Studies checked and runs started on this machine, for the screen: runners are processes of their own."""

from __future__ import annotations

import os
from pathlib import Path

from tui_bench.commands import screen
from tui_bench.commands.trees import StudyTrees
from tui_bench.engine import host
from tui_bench.engine.plan import Selection
from tui_bench.engine.requests import RequestClient, RunnerFile
from tui_bench.engine.selection import load_selected
from tui_bench.errors import StudyError, TuiBenchError
from tui_bench.ledger.runs import Layout, default_ledger, new_run_id
from tui_bench.recent import remember
from tui_bench.study.model import Study
from tui_bench.tui.link import CheckResult, RunnerLink, RunnerState
from tui_bench.tui.trees import TreeMaker


class LocalLauncher:
    """Runs go to `runs/` of the current folder."""

    def runner(self, ledger: Path) -> RunnerState:
        found = RunnerFile.read(Layout(ledger).runner)
        if found is None or found.host != host.host_name():
            return "unknown"
        return "alive" if found.alive else "gone"

    def link(self, ledger: Path) -> RunnerLink:
        remember(ledger)
        return RequestClient(Layout(ledger).runner)

    def trees(self, ledger: Path) -> TreeMaker:
        return StudyTrees(Layout(ledger))

    def check(self, study: Path) -> CheckResult:
        try:
            return _plan(load_selected(Selection(study=str(study))))
        except StudyError as error:
            return CheckResult(problems=tuple(str(problem) for problem in error.problems))
        except (TuiBenchError, OSError) as error:
            return CheckResult(problems=tuple(str(error).splitlines()))

    def start(self, study: Path, attempts: int | None, jobs: int | None) -> Path:
        run_id = new_run_id(os.environ)
        layout = Layout(default_ledger(run_id, Path.cwd()))
        if layout.ledger.exists():
            raise TuiBenchError(f"{layout.ledger}: exists; `tui-bench resume` goes on with it, or unset RUN_ID")
        words = ["run", str(study), "--headless", "--out", str(layout.ledger)]
        for option, value in (("--attempts", attempts), ("--jobs", jobs)):
            words += [option, str(value)] if value is not None else []
        screen.start_runner(words, layout, run_id)
        remember(layout.ledger, study)
        return layout.ledger

    def resume(self, ledger: Path) -> None:
        screen.start_runner(["resume", str(ledger), "--headless"], Layout(ledger))


def _plan(study: Study) -> CheckResult:
    return CheckResult(
        study=study.id,
        tasks=len(study.tasks),
        environments=tuple(one.name for one in study.environments),
        agents=tuple(one.name for one in study.agents),
        subject=study.subject,
        attempts=study.attempts,
        jobs=study.jobs,
        flip_rate=str(study.gate.flip_rate),
        min_pairs=str(study.gate.min_pairs),
        notes=study.notes,
    )
