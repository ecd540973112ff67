"""One copy of each task's prompt beside the ledger, for whoever reads the run without its study."""

from __future__ import annotations

import shutil
from contextlib import suppress

from tui_bench.ledger.runs import Layout
from tui_bench.study.model import Study


def keep_prompts(study: Study, layout: Layout) -> None:
    """Copy prompts that are not there yet. One that cannot be kept costs no run: its digest is in the task's row."""
    for task in study.tasks:
        kept = layout.prompt(task.id)
        if task.prompt is None or kept.exists():
            continue
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(task.prompt, kept)
