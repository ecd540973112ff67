"""Digests of what a study declares: equal wherever the same study is checked out, different once a verdict may be.

Contents of task folders are not part of it: they are hashed at the time of use, see `digest.task_digests`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from tui_bench.study.model import Agent, Controls, Dimension, Environment, Gate, Order, Study, Task

Record = Task | Agent | Environment | Controls | Dimension | Order | Gate
Plain = str | int | None | Sequence["Plain"] | dict[str, "Plain"]

_OF_STUDY = (
    "id", "tasks", "environments", "agents", "subject", "attempts", "verify_replays", "dimension", "controls",
    "order", "gate",
)  # fmt: skip
_NOT_OF_AGENT = ("folder",)
_NOT_OF_ENVIRONMENT = ("workspace",)
_PLACES_OF_TASK = ("folder", "repo", "prompt", "oracle", "reference")
"""Paths of a task: where they are is not hashed, only whether they are."""


def study_digest(study: Study) -> str:
    """sha256 hex over canonical JSON (sorted keys, ASCII) of every declared value that can change a verdict."""
    values = {name: _plain(getattr(study, name), study.root) for name in _OF_STUDY}
    return _digest(values)


def controls_digest(controls: Controls) -> str:
    """sha256 hex over canonical JSON of the controls."""
    return _digest(_plain(controls, Path("/")))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object, root: Path) -> Plain:
    match value:
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case Path():
            return _portable(value, root)
        case float():
            return repr(value)
        case frozenset():
            return sorted(value)
        case str() | int() | None:
            return value
        case tuple():
            return [_plain(item, root) for item in value]
        case Task():
            places: dict[str, Plain] = {name: getattr(value, name) is not None for name in _PLACES_OF_TASK}
            return places | _fields(value, root, _PLACES_OF_TASK)
        case Agent():
            return _fields(value, root, _NOT_OF_AGENT)
        case Environment():
            return _fields(value, root, _NOT_OF_ENVIRONMENT)
        case Controls() | Dimension() | Order() | Gate():
            return _fields(value, root, ())
    raise TypeError(f"no canonical form for {type(value).__name__}")


def _fields(value: Record, root: Path, leave_out: Sequence[str]) -> dict[str, Plain]:
    names = (field.name for field in dataclasses.fields(value) if field.name not in leave_out)
    return {name: _plain(getattr(value, name), root) for name in names}


def _portable(path: Path, root: Path) -> str:
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  (pathlib's raises where there is no home)
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()
