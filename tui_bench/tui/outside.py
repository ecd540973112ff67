"""Reading an attempt with a person's own programs: editor, pager, and a shell in a fresh copy of its tree.

The record is never touched: the editor gets a copy, the pager a clean stream, the shell a folder of its own. All of
them are gone when the program ends.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App

from tui_bench.errors import UsageError
from tui_bench.tui import safe
from tui_bench.tui.clean_stream import cleaned
from tui_bench.tui.log_file import Lines
from tui_bench.tui.suspend import lend, program
from tui_bench.tui.trees import TreeMaker

COPY_MOST = 64 * 1024 * 1024
PIECE = 1024 * 1024
PREFIX = "tui_bench-"


@dataclass(frozen=True, slots=True)
class Outside:
    """`app` lends its terminal; `again` sets its signal handlers afterwards."""

    app: App[Any]
    again: Callable[[], None]

    async def edit(self, lines: Lines, name: str) -> None:
        """A copy of a text in $VISUAL or $EDITOR. Raises UsageError where that cannot be done."""
        words = program(("VISUAL", "EDITOR"), ("vi", "nano"), os.environ)
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            copy = Path(folder) / name
            await asyncio.to_thread(_copy, lines, copy)
            await lend(self.app, [*words, str(copy)], self.again, said=["a copy; what you change here is not kept"])

    async def page(self, lines: Lines, *, from_start: bool) -> None:
        """A text, clean, in $PAGER. Raises UsageError where that cannot be done."""
        words = program(("PAGER",), ("less", "more"), os.environ)
        if Path(words[0]).name == "less":
            # A short text must not be gone before it was read, and a log is opened where it ends.
            words += ["-+F", *([] if from_start else ["+G"])]
        await lend(self.app, words, self.again, text=cleaned(lines))

    async def shell(self, trees: TreeMaker, task: str, env: str, patch: Path | None, said: str) -> str:
        """A shell in the tree an attempt left; what became of the copy, in words.

        Raises TuiBenchError where there is no such tree or no shell.
        """
        words = program(("SHELL",), ("bash", "sh"), os.environ)
        place = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=PREFIX))
        try:
            tree = await asyncio.to_thread(trees.make, task, env, patch, place)
            settings = " ".join(f"{name}={value}" for name, value in sorted(tree.variables.items()))
            told = [
                f"A fresh copy of {safe.text(said)}: the task's source with this attempt's change.",
                f"It is removed when this shell ends.{' Set here: ' + safe.text(settings) if settings else ''}",
            ]
            environ = {**os.environ, **tree.variables}
            await lend(self.app, words, self.again, folder=tree.repo, environ=environ, said=told)
        except BaseException:  # a cancel too must not leave the copy behind; raised again
            # At once: an app that is ending does not wait for a thread.
            _remove(place)
            raise
        left = await asyncio.to_thread(_remove, place)
        return left or "The copy of the tree is removed."

    async def shell_in(self, folder: Path) -> None:
        """A shell in the record's own folder. Raises UsageError where that cannot be done."""
        words = program(("SHELL",), ("bash", "sh"), os.environ)
        told = [f"{safe.text(str(folder))}: the record itself. What you change here, `tui-bench fsck` will find."]
        await lend(self.app, words, self.again, folder=folder, said=told)


def _copy(lines: Lines, target: Path) -> None:
    status = lines.status()
    if status is None:
        raise UsageError("there is no text to edit")
    if status.size > COPY_MOST:
        raise UsageError(f"{status.size // 1_000_000} MB is too much for a copy: o opens it in the pager")
    with target.open("xb") as handle:
        at = 0
        while at < status.size and (piece := lines.chunk(at, min(PIECE, status.size - at))):
            handle.write(piece)
            at += len(piece)


def _remove(place: Path) -> str | None:
    """Remove a copy, also one with locked folders in it; what stays is named."""
    shutil.rmtree(place, ignore_errors=True)
    if not place.exists():
        return None
    for folder, _, _ in os.walk(place):
        Path(folder).chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)
    return f"{place} could not be removed" if place.exists() else None
