"""Studies without bench.yaml: a folder with envs.tsv and tasks/, and a replay slice with controls.yaml and tasks/."""

from __future__ import annotations

import os
from pathlib import Path

from tui_bench.study.controls import read_controls
from tui_bench.study.draft import Draft, with_agent_command
from tui_bench.study.environments import read_environments
from tui_bench.study.model import Environment, Study
from tui_bench.study.names import id_fault
from tui_bench.study.reading import Reading
from tui_bench.study.schema import absolute
from tui_bench.study.tasks import read_tasks

ENVIRONMENTS, CONTROLS, TASKS, TASK_LIST = "envs.tsv", "controls.yaml", "tasks", "TASKS.md"
SLICE_NOTE = "a slice names no environments: its tasks run in one, 'local'"


def is_bare(folder: Path) -> bool:
    """True for a folder with envs.tsv and tasks/."""
    return os.path.isfile(folder / ENVIRONMENTS) and os.path.isdir(folder / TASKS)


def is_slice(folder: Path) -> bool:
    """True for a folder with controls.yaml and tasks/, with or without TASKS.md."""
    return os.path.isfile(folder / CONTROLS) and os.path.isdir(folder / TASKS)


def load(path: Path, agent_cmd: str | None = None) -> Study:
    """A bare folder as a study: no dimension, defaults for the rest. Raises StudyError."""
    reading = Reading()
    draft = read_bare(absolute(str(path), Path.cwd()), reading)
    return with_agent_command(draft, agent_cmd).study(reading)


def read_bare(folder: Path, reading: Reading) -> Draft:
    """The draft of a folder with envs.tsv and tasks/; a controls.yaml in it counts."""
    controls = read_controls(folder / CONTROLS, reading) if is_slice(folder) else None
    return Draft(
        id=_id(folder.name),
        root=folder,
        file=folder / ENVIRONMENTS,
        tasks=read_tasks(folder / TASKS, reading, controls),
        environments=read_environments(folder / ENVIRONMENTS, reading),
        controls=controls,
    )


def read_slice(folder: Path, reading: Reading) -> Draft:
    """The draft of a replay slice: its tasks under its controls in one local environment."""
    controls = read_controls(folder / CONTROLS, reading)
    return Draft(
        id=_id((controls.slice_id if controls else None) or folder.name),
        root=folder,
        file=folder / CONTROLS,
        tasks=read_tasks(folder / TASKS, reading, controls),
        environments=(Environment("local"),),
        controls=controls,
        notes=(SLICE_NOTE,),
    )


def _id(name: str) -> str:
    return "study" if id_fault(name) else name
