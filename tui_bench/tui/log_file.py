"""Lines of a file of any size by byte offset, forwards and backwards, reading only what is asked for.

A stretch without a newline is broken every `LINE_CAP` bytes, so that a 3 MB line costs no more than a screenful. The
file may be absent, grow, shrink or be replaced between two calls; only a regular file is ever opened.
"""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

LINE_CAP = 4096
"""Bytes of one line at most."""
BLOCK = 64 * 1024


@dataclass(frozen=True, slots=True)
class LogLine:
    """Raw bytes of one line, without its newline. `end` is where the next line starts."""

    start: int
    end: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class LogStatus:
    """What the file system says: size in bytes, time of the last write (seconds since the epoch), which file it is."""

    size: int
    written: float
    identity: tuple[int, int]


class Lines(Protocol):
    """A text that can be read by byte offset, wherever it lies."""

    def status(self) -> LogStatus | None:
        """None while there is none."""

    def before(self, end: int, count: int) -> list[LogLine]:
        """Up to `count` lines that end at or before offset `end`, in order."""

    def after(self, start: int, count: int) -> list[LogLine]:
        """Up to `count` lines from offset `start`, the last one perhaps unfinished."""

    def chunk(self, start: int, count: int) -> bytes:
        """Up to `count` bytes from offset `start`."""


class LogFile:
    """One log by path. Every call opens and closes it, so a replaced file is never read through an old descriptor."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def status(self) -> LogStatus | None:
        """None while there is no regular file."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return LogStatus(found.st_size, found.st_mtime, (found.st_dev, found.st_ino))

    def before(self, end: int, count: int) -> list[LogLine]:
        """Up to `count` lines that end at or before offset `end`, in file order."""
        with _Reader(self.path) as reader:
            found: list[LogLine] = []
            end = min(end, reader.size)
            while end > 0 and len(found) < count:
                start = reader.line_start(end)
                found.append(reader.line(start, end))
                end = start
            return found[::-1]

    def after(self, start: int, count: int) -> list[LogLine]:
        """Up to `count` lines from offset `start`, the last one perhaps unfinished."""
        with _Reader(self.path) as reader:
            found: list[LogLine] = []
            while start < reader.size and len(found) < count:
                end = reader.line_end(start)
                found.append(reader.line(start, end))
                start = end
            return found


    def chunk(self, start: int, count: int) -> bytes:
        """Up to `count` bytes from offset `start`."""
        with _Reader(self.path) as reader:
            return reader.raw(start, count)


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A small text that no file holds, such as a row in words."""

    raw: bytes

    def status(self) -> LogStatus | None:
        """Size and identity of the text; it has no time."""
        return LogStatus(len(self.raw), 0.0, (0, zlib.crc32(self.raw)))

    def before(self, end: int, count: int) -> list[LogLine]:
        """Up to `count` lines that end at or before offset `end`, in order."""
        return [line for line in self._lines(0) if line.end <= end][-count:] if count > 0 else []

    def after(self, start: int, count: int) -> list[LogLine]:
        """Up to `count` lines from offset `start`."""
        return self._lines(start)[:count]

    def chunk(self, start: int, count: int) -> bytes:
        """Up to `count` bytes from offset `start`."""
        return self.raw[start : start + count]

    def _lines(self, start: int) -> list[LogLine]:
        found: list[LogLine] = []
        for raw in self.raw[start:].split(b"\n"):
            found.append(LogLine(start, min(start + len(raw) + 1, len(self.raw)), raw))
            start += len(raw) + 1
        return found if found[-1].raw else found[:-1]


class _Reader:
    """One open descriptor with the last block that was read; an unreadable file reads as empty."""

    def __init__(self, path: Path) -> None:
        self.size = 0
        self._block, self._at = b"", 0
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError:
            self._descriptor = -1
            return
        found = os.fstat(self._descriptor)
        if stat.S_ISREG(found.st_mode):
            self.size = found.st_size
        else:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def line(self, start: int, end: int) -> LogLine:
        raw = self._bytes(start, end)
        return LogLine(start, end, raw.removesuffix(b"\n").removesuffix(b"\r"))

    def line_start(self, end: int) -> int:
        """Where the line that ends at `end` starts."""
        floor = max(0, end - LINE_CAP)
        piece = self._bytes(floor, end, backwards=True)
        newline = piece.rfind(b"\n", 0, len(piece) - 1)
        if newline >= 0:
            return floor + newline + 1
        return floor if floor == 0 else floor + _broken_character(piece)

    def line_end(self, start: int) -> int:
        piece = self._bytes(start, min(self.size, start + LINE_CAP + 4))
        newline = piece.find(b"\n", 0, LINE_CAP)
        if newline >= 0:
            return start + newline + 1
        if len(piece) <= LINE_CAP:
            return start + len(piece)
        return start + LINE_CAP + _broken_character(piece[LINE_CAP:])

    def raw(self, start: int, count: int) -> bytes:
        return self._read(max(0, count), max(0, start))

    def _bytes(self, start: int, end: int, backwards: bool = False) -> bytes:
        """Bytes of the file; shorter than asked where the file has been cut meanwhile."""
        if start < self._at or end > self._at + len(self._block):
            low = max(0, end - BLOCK) if backwards else start
            low = min(low, start)
            self._block, self._at = self._read(max(BLOCK, end - low), low), low
        return self._block[start - self._at : end - self._at]

    def _read(self, count: int, at: int) -> bytes:
        if self._descriptor < 0:
            return b""
        try:
            return os.pread(self._descriptor, count, at)
        except OSError:
            return b""


def _broken_character(piece: bytes) -> int:
    """How many bytes at the start of `piece` belong to a UTF-8 character begun before it."""
    count = 0
    while count < min(3, len(piece)) and 0x80 <= piece[count] < 0xC0:
        count += 1
    return count
