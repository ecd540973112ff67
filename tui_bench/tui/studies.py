"""Studies a person may want to start: those in and below the current folder, and those started lately.

Only names are looked at; whether a study is sound is said by the check.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

FOLDERS_MOST = 2000
"""Folders of the current one that are looked into."""
SIGNS = ("bench.yaml", "envs.tsv", "controls.yaml")
"""A folder with one of these is taken for a study."""


def find_studies(folder: Path, recent: Iterable[Path]) -> list[Path]:
    """The folder itself, folders in it by name, then the recent ones that still exist; each once."""
    found: dict[str, Path] = {}
    for path in (folder, *_folders(folder), *recent):
        if str(path) not in found and _is_study(path):
            found[str(path)] = path
    return list(found.values())


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, FOLDERS_MOST) if not entry.name.startswith(".")]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _is_study(path: Path) -> bool:
    try:
        if path.suffix in (".yaml", ".yml"):
            return path.is_file()
        return any((path / sign).is_file() for sign in SIGNS)
    except OSError:
        return False
