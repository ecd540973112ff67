"""Where every line of a ledger begins: 8 bytes a row, nothing parsed, so a million rows are cheap to hold and to enter.

Lines are named by their place, from 0. Reading opens the file by its path each time and gives nothing when another file
lies there than the one that was indexed; the next `poll` then starts again and says why.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from tui_bench.ledger.lines import RawLine
from tui_bench.ledger.rows import ROW_LIMIT
from tui_bench.ledger.tail import State, Tail

POLL_BYTES = 4 * 1024 * 1024
BLOCK_BYTES = 4 * 1024 * 1024
"""What `block` reads at once, whatever is asked for."""

Broke = Literal["cut", "replaced", "removed"]


class RowIndex:
    """The lines of one ledger. `poll` and the reads may run in a thread, one call at a time."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger
        self.more = True
        """There is more to read at once."""
        self._tail = Tail(ledger, POLL_BYTES)
        self._starts: array[int] = array("Q")
        self._end = 0

    def __len__(self) -> int:
        """Complete lines known so far."""
        return len(self._starts)

    @property
    def state(self) -> State:
        """Whether there is a file to read."""
        return self._tail.state

    @property
    def reason(self) -> str | None:
        """The system's words where it cannot be read."""
        return self._tail.reason

    def poll(self) -> Broke | None:
        """Take in the lines completed since the last poll; what made it start again from line 1, if anything did."""
        before, broke = self._tail.identity, None
        lines = self._tail.poll_raw()
        if self._tail.reset:
            self._starts, self._end = array("Q"), 0
            broke = self._what_broke(before)
        self._starts.extend(line.offset for line in lines)
        if lines:
            self._end = lines[-1].offset + lines[-1].length + 1
        self.more = self._tail.more
        return broke

    def _what_broke(self, before: tuple[int, int]) -> Broke:
        if self._tail.state != "reading":
            return "removed"
        return "replaced" if self._tail.identity != before else "cut"

    def close(self) -> None:
        """Give up the file."""
        self._tail.close()

    def lines(self, places: Iterable[int]) -> list[RawLine]:
        """These lines, as many of them as are still there. A line longer than a row may be is not read."""
        descriptor = self._open()
        if descriptor < 0:
            return []
        try:
            read = (self._line(descriptor, place) for place in places)
            return [line for line in read if line is not None]
        finally:
            os.close(descriptor)

    def block(self, first: int, last: int) -> list[RawLine]:
        """Lines from place `first` up to `last`, by one read of at most 4 MiB; fewer where that does not suffice."""
        last = min(last, len(self._starts))
        while last - first > 1 and self._start(last) - self._start(first) > BLOCK_BYTES:
            last = first + (last - first) // 2
        if first >= last:
            return []
        low, high = self._start(first), self._start(last)
        if high - low > BLOCK_BYTES:
            return self.lines([first])
        data = self._bytes(low, high - low)
        if len(data) < high - low:
            return []
        pieces = data[:-1].split(b"\n")
        return [_raw(first + number, self._start(first + number), piece) for number, piece in enumerate(pieces)]

    def block_before(self, last: int, most: int) -> list[RawLine]:
        """The lines that end just before place `last`, at most so many and 4 MiB of them, in file order."""
        while most > 0:
            lines = self.block(max(0, last - most), last)
            if not lines or lines[-1].number == last:
                return lines
            most //= 2
        return []

    def _start(self, place: int) -> int:
        return self._starts[place] if place < len(self._starts) else self._end

    def _line(self, descriptor: int, place: int) -> RawLine | None:
        if not 0 <= place < len(self._starts):
            return None
        start = self._start(place)
        length = self._start(place + 1) - 1 - start
        if length > ROW_LIMIT:
            return RawLine(place + 1, start, length, None)
        try:
            data = os.pread(descriptor, length + 1, start)
        except OSError:
            return None
        return _raw(place, start, data[:-1]) if len(data) == length + 1 and data.endswith(b"\n") else None

    def _bytes(self, start: int, count: int) -> bytes:
        descriptor = self._open()
        if descriptor < 0:
            return b""
        try:
            return os.pread(descriptor, count, start)
        except OSError:
            return b""
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        """A descriptor of the indexed file; -1 when it is not there any more."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return -1
        found = os.fstat(descriptor)
        if (found.st_dev, found.st_ino) != self._tail.identity:
            os.close(descriptor)
            return -1
        return descriptor


def _raw(place: int, start: int, data: bytes) -> RawLine:
    return RawLine(place + 1, start, len(data), data if len(data) <= ROW_LIMIT else None)
