"""What a load collects on its way: problems of all files, and the digest of every file as it was read."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from tui_bench.errors import Problem, StudyError

TEXT_LIMIT = 256 * 1024
"""Bytes. Study files are written by hand; a longer one is not a study file."""
_SHOWN = 60


def show(text: str) -> str:
    """Foreign text inside a message: quoted, escaped where not printable, cut to one short line."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


class Reading:
    """One load. Problems are gathered, not raised, so that a person sees all of them at once."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._here = Path.cwd()
        self.sources: dict[Path, str] = {}
        """sha256 hex of each file's bytes, in the order of reading."""

    def problem(self, file: Path, line: int | None, message: str) -> None:
        """Note a fault of a file."""
        self._problems.append(Problem(Path(self.shown(file)), line, message))

    def shown(self, file: Path) -> str:
        """A path for a message: relative to the current folder where it lies below it, printable."""
        return printable(str(file.relative_to(self._here) if file.is_relative_to(self._here) else file))

    @property
    def failed(self) -> bool:
        return bool(self._problems)

    def finish(self) -> None:
        """Raise StudyError with every problem noted, in file and line order."""
        if self._problems:
            unique = dict.fromkeys(self._problems)
            raise StudyError(sorted(unique, key=lambda problem: (str(problem.file), problem.line or 0)))

    def text(self, file: Path) -> str | None:
        """The text of a study file, or None after noting why it has none.

        UTF-8, a byte order mark aside; no NUL; at most TEXT_LIMIT bytes; a regular file.
        """
        try:
            data = regular_bytes(file, TEXT_LIMIT + 1)
        except OSError as error:
            self.problem(file, None, f"cannot be read: {error.strerror or error}")
            return None
        if len(data) > TEXT_LIMIT:
            self.problem(file, None, f"is larger than {TEXT_LIMIT} bytes; no study file is that long")
            return None
        self.sources[file] = hashlib.sha256(data).hexdigest()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.problem(file, line, f"is not UTF-8 (byte {error.start}); save it as UTF-8")
            return None
        if "\0" in text:
            self.problem(file, text.count("\n", 0, text.index("\0")) + 1, "holds a NUL byte; remove it")
            return None
        return text.removeprefix("\ufeff")


def regular_bytes(file: Path, limit: int) -> bytes:
    """The first `limit` bytes of a regular file. Raises OSError, also for a pipe, which would block."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(limit)
    finally:
        os.close(descriptor)


def printable(text: str) -> str:
    """A path or name as one line: what is not printable is escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
