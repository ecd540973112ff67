"""The tree that an attempt left, made again from the study's files and the attempt's diff."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tui_bench.engine.plan import read_selection
from tui_bench.engine.selection import load_selected
from tui_bench.engine.template import export_source
from tui_bench.engine.tree_patch import apply
from tui_bench.errors import LedgerError, StudyError, TuiBenchError, UsageError, WorkspaceError
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import RunRow, TaskRow
from tui_bench.ledger.runs import Layout
from tui_bench.study.digest import task_digests
from tui_bench.study.model import Study, Task
from tui_bench.tui.trees import FreshTree


@dataclass(frozen=True, slots=True)
class StudyTrees:
    """Makes trees of one run. The study is loaded at each call: it may have changed since."""

    layout: Layout

    def make(self, task: str, env: str, patch: Path | None, place: Path) -> FreshTree:
        """Write the tree below `place`. Raises TuiBenchError where the study is gone or not what the run used."""
        study, wanted = self._study(task)
        repo = place / "repo"
        try:
            export_source(wanted, repo, scratch=place)
        except OSError as error:
            raise WorkspaceError(f"{error.filename or repo}: {error.strerror or error}") from None
        if patch is not None and (failed := apply(repo, patch)) is not None:
            raise WorkspaceError(failed)
        variables = next((dict(one.variables) for one in study.environments if one.name == env), {})
        return FreshTree(repo, variables)

    def _study(self, name: str) -> tuple[Study, Task]:
        """The study and the task, its files those that the run used."""
        run, row = self._rows(name)
        try:
            study = load_selected(read_selection(self.layout.plan, run.plan_sha))
            task = next((one for one in study.tasks if one.id == name), None)
            if task is None:
                raise WorkspaceError(f"{study.file}: has no task {name} any more")
            now = task_digests(task).task_sha
        except (StudyError, LedgerError, UsageError) as error:
            raise WorkspaceError(f"the run's study cannot be loaded: {str(error).splitlines()[0]}") from None
        except OSError as error:
            raise WorkspaceError(f"{error.filename}: {error.strerror}") from None
        if row is not None and now != row.task_sha:
            raise WorkspaceError(f"{task.folder}: its files have changed since the run")
        return study, task

    def _rows(self, name: str) -> tuple[RunRow, TaskRow | None]:
        run: RunRow | None = None
        for line in scan(self.layout.ledger):
            if isinstance(line.row, RunRow) and run is None:
                run = line.row
            elif isinstance(line.row, TaskRow) and line.row.task == name and run is not None:
                return run, line.row
        if run is None:
            raise TuiBenchError(f"{self.layout.ledger}: has no run row, so its study is not known")
        return run, None
