"""From a selection to the study it means; the same way for a new run and for a resume."""

from __future__ import annotations

from pathlib import Path

from tui_bench.engine.plan import Selection
from tui_bench.study.load import load_study
from tui_bench.study.model import Study
from tui_bench.study.select import select


def load_selected(selection: Selection, *, jobs: int | None = None) -> Study:
    """Load and narrow a study. Raises StudyError with every problem, UsageError for unknown names."""
    study = load_study(Path(selection.study), agent_cmd=selection.agent_cmd)
    return select(
        study,
        tasks=selection.tasks,
        environments=selection.environments,
        agents=selection.agents,
        attempts=selection.attempts,
        subject=selection.subject,
        jobs=jobs,
    )
