"""Following a ledger that may still grow: each poll gives the rows completed since the one before."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from tui_bench.errors import LedgerError
from tui_bench.ledger.lines import Line, RawLine, Splitter, parsed

POLL_LIMIT = 4 * 1024 * 1024
_MEMORY = 96
"""Bytes before the offset that are compared at each read. The end of a row holds values that differ between rows."""

State = Literal["missing", "reading", "unreadable"]


class Tail:
    """A follower of one path. It takes no lock, never waits, and costs one stat when nothing has changed.

    What follows the last newline is held back. When the file shrank, was replaced or was changed before the offset,
    it starts again from the first line and says so.
    """

    def __init__(self, path: Path | str, limit: int = POLL_LIMIT) -> None:
        self.path = Path(path)
        self.state: State = "missing"
        self.reset = False
        """The last poll started again from line 1: forget all rows given before it."""
        self.more = False
        """The last poll stopped at its limit: poll again without waiting."""
        self.reason: str | None = None
        """The system's words while the state is `unreadable`."""
        self._limit = limit
        self._descriptor = -1
        self._identity = (0, 0)
        self._begin()

    @property
    def offset(self) -> int:
        """Bytes read so far."""
        return self._offset

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the file that was read last."""
        return self._identity

    @property
    def unfinished(self) -> int:
        """Bytes held back after the last newline."""
        return self._splitter.held

    def poll(self) -> list[Line]:
        """Lines completed since the last poll, from at most 4 MiB of file. Never raises on what the file holds or is.

        Sets `state`, `reset` and `more`.
        """
        return [parsed(raw) for raw in self.poll_raw()]

    def poll_raw(self) -> list[RawLine]:
        """The same lines, not parsed."""
        self.reset = self.more = False
        size = self._look()
        if size is None or size == self._offset:
            return []
        try:
            return self._read(size)
        except OSError as error:
            self._fail("unreadable", error.strerror or str(error))
            return []

    def begin_at(self, offset: int, number: int, before: bytes) -> None:
        """Go on from line `number` at byte `offset`, before the first poll.

        `before` are the bytes that end there: where they do not, the first poll starts from line 1 after all. Nothing
        happens where the file cannot be opened.
        """
        try:
            self._open()
        except (OSError, LedgerError):
            return
        self._splitter, self._offset, self._last = Splitter(offset, number), offset, before[-_MEMORY:]

    def close(self) -> None:
        """Give up the descriptor; a further poll starts again from line 1."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _begin(self) -> None:
        self._splitter = Splitter()
        self._offset = 0
        self._last = b""

    def _restart(self) -> None:
        self.reset = self.reset or self._offset > 0
        self._begin()

    def _look(self) -> int | None:
        """Size of the file at the path, opened when it is another than before; None when there is none to read."""
        try:
            found = os.stat(self.path)
            if self._descriptor >= 0 and (found.st_dev, found.st_ino) != self._identity:
                self.close()
            if self._descriptor < 0:
                self._restart()
                self._open()
                found = os.fstat(self._descriptor)
        except FileNotFoundError:
            self._fail("missing", None)
            return None
        except (OSError, LedgerError) as error:
            self._fail("unreadable", str(error))
            return None
        self.state, self.reason = "reading", None
        if found.st_size < self._offset:
            self._restart()
        return found.st_size

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise LedgerError("not a file")
        self._descriptor = descriptor
        self._identity = (found.st_dev, found.st_ino)

    def _fail(self, state: State, reason: str | None) -> None:
        self.close()
        self._restart()
        self.state, self.reason = state, reason

    def _read(self, size: int) -> list[RawLine]:
        back = len(self._last)
        data = os.pread(self._descriptor, back + min(self._limit, size - self._offset), self._offset - back)
        if data[:back] != self._last:
            self._restart()
            back = 0
            data = os.pread(self._descriptor, min(self._limit, size), 0)
        fresh = data[back:]
        self._offset += len(fresh)
        self._last = data[-_MEMORY:]
        self.more = self._offset < size
        return list(self._splitter.feed(fresh))
