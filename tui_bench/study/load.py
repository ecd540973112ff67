"""The one entry to a study: recognises the shape of what the path names."""

from __future__ import annotations

import os
from pathlib import Path

from tui_bench.errors import UsageError
from tui_bench.study.bare import is_bare, is_slice, read_bare, read_slice
from tui_bench.study.bench import FILE_NAME, read_bench
from tui_bench.study.draft import Draft, with_agent_command
from tui_bench.study.model import Study
from tui_bench.study.reading import Reading, show
from tui_bench.study.schema import absolute

EVAL_CONFIG = "eval.config.json"
_SHAPES = f"a folder with {FILE_NAME}, with envs.tsv and tasks/, or with controls.yaml and tasks/"


def load_study(path: Path, *, agent_cmd: str | None = None) -> Study:
    """Load and validate everything a study names.

    `path` is a bench.yaml, a folder that holds one, a bare folder (envs.tsv, tasks/) or a slice (controls.yaml,
    tasks/). `agent_cmd` replaces the agents it names. Raises StudyError with every problem found, and UsageError where
    the path is no study at all.
    """
    reading = Reading()
    draft = _draft(absolute(str(path), Path.cwd()), show(str(path)), reading)
    if draft is None:
        reading.finish()
        raise UsageError(f"{show(str(path))} holds no study")
    return with_agent_command(draft, agent_cmd).study(reading)


def _draft(path: Path, shown: str, reading: Reading) -> Draft | None:
    if os.path.isdir(path):
        return _from_folder(path, shown, reading)
    if not os.path.lexists(path):
        raise UsageError(f"{shown} does not exist; a study is {_SHAPES}")
    if path.name == EVAL_CONFIG:
        raise UsageError(_no_eval_config(shown))
    if path.suffix in (".yaml", ".yml"):
        return read_bench(path, reading)
    raise UsageError(f"{shown} is no study; a study is {_SHAPES}")


def _from_folder(folder: Path, shown: str, reading: Reading) -> Draft | None:
    if os.path.lexists(folder / FILE_NAME):
        return read_bench(folder / FILE_NAME, reading)
    if is_bare(folder):
        return read_bare(folder, reading)
    if is_slice(folder):
        return read_slice(folder, reading)
    if os.path.lexists(folder / EVAL_CONFIG):
        raise UsageError(_no_eval_config(shown))
    raise UsageError(f"no study in {shown}; a study is {_SHAPES}")


def _no_eval_config(shown: str) -> str:
    return f"{shown}: {EVAL_CONFIG} is not available in this version; write {FILE_NAME} and task folders"
