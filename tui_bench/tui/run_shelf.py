"""The runs that a person may want to open: those in `runs/` of the current folder, and those used lately elsewhere.

`look` finds them and reads a piece of one; it is made to be called in a thread, again and again, and costs a stat a
run once all are read.
"""

from __future__ import annotations

import os
import time
from itertools import islice
from pathlib import Path

from tui_bench.recent import recent
from tui_bench.tui.link import Launcher, RunnerState
from tui_bench.tui.run_reader import RunReader, Summary

ENTRIES_MOST = 5000
"""Files of one folder that are looked at."""
RUNS_MOST = 200
"""Runs that are listed, the newest ones."""
PIECE_S = 0.1


class RunShelf:
    """All runs that are known, newest first."""

    def __init__(self, folder: Path, launcher: Launcher | None) -> None:
        self._folder = folder
        self._launcher = launcher
        self._readers: dict[Path, RunReader] = {}
        self._order: list[Path] = []
        self._states: dict[Path, RunnerState] = {}
        self.looked = False
        """Whether the folders have been looked at once."""

    @property
    def behind(self) -> bool:
        """There is more to read at once."""
        return any(self._readers[path].behind for path in self._order)

    def look(self) -> None:
        """Find runs and read on in those that have more, for a short while."""
        if not self.behind:
            self._find()
        deadline = time.monotonic() + PIECE_S
        for path in self._order:
            self._readers[path].step()
            if time.monotonic() > deadline:
                break

    def summaries(self, now: float) -> list[Summary]:
        """What is known of each run."""
        return [self._readers[path].summary(now, self._states.get(path, "unknown")) for path in self._order]

    def close(self) -> None:
        """Give up all files."""
        for reader in self._readers.values():
            reader.close()

    def _find(self) -> None:
        known = {path: _written(path) for path in _ledgers(self._folder / "runs")}
        for one in recent():
            if one.ledger not in known and (written := _written(one.ledger)) > 0:
                known[one.ledger] = written
        order = sorted(known, key=lambda path: (-known[path], str(path)))[:RUNS_MOST]
        for path in order:
            if path not in self._readers:
                self._readers[path] = RunReader(path)
        for path in self._readers.keys() - order:
            self._readers.pop(path).close()
        if self._launcher is not None:
            self._states = {path: self._launcher.runner(path) for path in order}
        for path in order:
            self._readers[path].behind = True
        self._order = order
        self.looked = True


def _ledgers(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(one.path) for one in islice(entries, ENTRIES_MOST) if one.name.endswith(".jsonl")]
    except OSError:
        return []


def _written(path: Path) -> float:
    """Time of the last write in seconds since the epoch; 0 where there is no file."""
    try:
        return path.stat().st_mtime if path.is_file() else 0.0
    except OSError:
        return 0.0
