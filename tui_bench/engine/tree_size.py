"""How large a tree is, before anything reads it.

An agent can make a file of any apparent size in no time; hashing it would hold a job slot for as long as it pleases.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

BYTES_LIMIT = 2 * 1024**3
"""Apparent bytes that a workspace may hold; beyond it the attempt is void: disk_limit."""
FILES_LIMIT = 200_000
LARGE_FILES = 300
LARGE_BYTES = 16 * 1024**2
"""From here on a tree is copied and hashed in a thread, so that the loop goes on hearing."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TreeSize:
    """Entries and apparent bytes of regular files, counted until one of the limits was passed."""

    files: int
    bytes: int

    @property
    def large(self) -> bool:
        return self.files > LARGE_FILES or self.bytes > LARGE_BYTES

    @property
    def excess(self) -> str | None:
        """In words, where it is more than an attempt may leave; else None."""
        if self.bytes > BYTES_LIMIT:
            return f"the workspace holds more than {BYTES_LIMIT // 1024**2:,} MB"
        return f"the workspace holds more than {FILES_LIMIT:,} files" if self.files > FILES_LIMIT else None


def tree_size(root: Path) -> TreeSize:
    """Count a tree without following a link or opening a file. What cannot be listed counts as nothing."""
    files = total = 0
    waiting = [os.fsencode(root)]
    while waiting and files <= FILES_LIMIT and total <= BYTES_LIMIT:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    seen = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(seen.st_mode):
                        waiting.append(entry.path)
                    elif stat.S_ISREG(seen.st_mode):
                        total += seen.st_size
        except OSError:
            continue
    return TreeSize(files, total)


async def off_loop(large: bool, work: Callable[[], Result]) -> Result:
    """Do the work in a thread where it is large; a small piece costs less where it is."""
    return await asyncio.to_thread(work) if large else work()
