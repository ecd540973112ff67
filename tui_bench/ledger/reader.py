"""Reading a ledger from its first line to its last newline, without a lock and in bounded memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tui_bench.errors import LedgerDamaged, LedgerError
from tui_bench.ledger.lines import Fault, Line, RawLine, Splitter, parse, parsed
from tui_bench.ledger.rows import ROW_LIMIT, AnyRow

CHUNK = 1024 * 1024


def open_to_read(path: Path) -> int:
    """A descriptor of the ledger for reading. Raises LedgerError when there is none or it is not a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise LedgerError(f"{path}: no such ledger; check the path") from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror}; check its permissions") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LedgerError(f"{path}: not a file; name the .jsonl file of a run")
    return descriptor


class Scan:
    """One pass over a ledger, from its start or from a line on.

    Iterate over it once; `unfinished` and `end` are set when the pass is over.
    """

    def __init__(self, path: Path, offset: int = 0, number: int = 1) -> None:
        self.path = path
        self._offset = offset
        self._number = number
        self.unfinished = 0
        """Bytes after the last newline: a row that is being written, or the rest of a crash."""
        self.end = 0
        """Offset just behind the last newline."""

    def raw(self) -> Iterator[RawLine]:
        """Complete lines, not parsed. Raises LedgerError when the file cannot be read."""
        descriptor = open_to_read(self.path)
        try:
            splitter = Splitter(self._offset, self._number)
            os.lseek(descriptor, self._offset, os.SEEK_SET)
            while chunk := os.read(descriptor, CHUNK):
                yield from splitter.feed(chunk)
            self.unfinished, self.end = splitter.held, splitter.offset
        except OSError as error:
            raise LedgerError(f"{self.path}: cannot be read: {error.strerror}") from error
        finally:
            os.close(descriptor)

    def __iter__(self) -> Iterator[Line]:
        return map(parsed, self.raw())


def scan(path: Path | str, offset: int = 0, number: int = 1) -> Scan:
    """All complete lines of a ledger, in order, each with its row or a named fault.

    `offset` is where a line begins and `number` that line's number, for a reader that knows what lies before.

    Raises LedgerError, at the first step, when the file cannot be read; never on what it holds.
    """
    return Scan(Path(path), offset, number)


def line_at(path: Path | str, offset: int) -> bytes:
    """The line that begins at byte `offset`, as it was written, without its newline.

    Raises LedgerError when the file cannot be read, LedgerDamaged when no complete line stands there.
    """
    descriptor = open_to_read(Path(path))
    try:
        data = os.pread(descriptor, ROW_LIMIT + 1, offset)
    finally:
        os.close(descriptor)
    line, newline, _ = data.partition(b"\n")
    if not newline:
        raise LedgerDamaged(f"{path}: no complete row at byte {offset}")
    return line


def read_at(path: Path | str, offset: int) -> AnyRow:
    """The row whose line begins at byte `offset`.

    Raises LedgerError when the file cannot be read, LedgerDamaged when no complete row stands there.
    """
    found = parse(line_at(path, offset))
    if isinstance(found, Fault):
        raise LedgerDamaged(f"{path}: no row at byte {offset}: {found.message}")
    return found
