"""Fresh copies of an attempt's tree. The commands bring an implementation; this room knows no study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FreshTree:
    """A copy of a task's source with an attempt's change in it."""

    repo: Path
    variables: dict[str, str]
    """What the environment sets for agent and verify."""


class TreeMaker(Protocol):
    """Makes the tree that an attempt left, from the study's own files."""

    def make(self, task: str, env: str, patch: Path | None, place: Path) -> FreshTree:
        """Write the tree below `place`, an empty folder. Runs in a thread.

        Raises TuiBenchError where the study's files are gone, are not what the run used, or the change does not apply.
        """
