"""The ledger's file: one lock, one write a row, and nothing torn left behind by an error."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tui_bench.errors import LedgerBusy, LedgerDamaged, LedgerError
from tui_bench.ledger.disk import LedgerIO, is_network
from tui_bench.ledger.owner import read_owner

_CHUNK = 1024 * 1024
_CURES = {
    errno.ENOSPC: "free some space on this disk, then go on",
    errno.EDQUOT: "free some of your quota, then go on",
    errno.EIO: "the disk reports an error: copy the ledger to another disk and go on there",
    errno.EROFS: "the disk is mounted read-only: choose another ledger with --out",
    errno.EACCES: "check the permissions or choose another ledger with --out",
}


@dataclass(frozen=True, slots=True)
class Torn:
    """Bytes that stood after the last newline when a ledger was opened, and the file they were moved to."""

    offset: int
    length: int
    sha256: str
    line: int
    """1-based number of the line they would have been."""
    saved_as: Path


def failed(path: Path, what: str, error: OSError) -> LedgerError:
    """A LedgerError in one line with the system's words and the cure."""
    cure = _CURES.get(error.errno or 0, "check the disk, then go on")
    return LedgerError(f"{path}: {what}: {error.strerror or error}; {cure}")


class LedgerFile:
    """An open and locked ledger.

    Two descriptors: one holds the lock from the first moment to the last, the other is written to and is exchanged
    after a failed fsync, because the kernel may report such a failure once and then forget it.
    """

    def __init__(self, path: Path, io: LedgerIO, lock: int) -> None:
        self.path = path
        self._io = io
        self._lock = lock
        self._data = -1
        self._identity = (0, 0)
        self._end = 0
        self._ragged = False
        self._suspect = False
        self._unsynced: deque[tuple[int, bytes]] = deque()
        self._guard = threading.Lock()

    @classmethod
    def open(cls, path: Path, io: LedgerIO, network_ok: bool) -> LedgerFile:
        """Open or create, and lock. Raises LedgerBusy naming the owner, LedgerError."""
        _make_folder(path, io)
        kind = io.file_system(path.parent)
        if is_network(kind) and not network_ok:
            raise LedgerError(
                f"{path}: lies on a network file system ({kind}), where locks cannot be relied on; "
                "choose a ledger on a local disk with --out"
            )
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        file = cls(path, io, _open(path, io, flags))
        with ExitStack() as undo:
            undo.callback(file.close)
            try:
                file._begin(flags & ~os.O_CREAT)
            except OSError as error:
                raise failed(path, "cannot be opened", error) from error
            undo.pop_all()
        return file

    def read(self, offset: int) -> bytes:
        """The next chunk from `offset` on; empty at the end. Raises LedgerError."""
        try:
            return self._io.read(self._data, min(_CHUNK, max(self._end - offset, 0)), offset)
        except OSError as error:
            raise failed(self.path, "cannot be read", error) from error

    def cut_tail(self, offset: int, line: int) -> Torn:
        """Move everything from `offset` on to a file beside the ledger, safely on disk before it is cut off here.

        Raises LedgerError; the ledger is then as it was.
        """
        digest = hashlib.sha256()
        try:
            saved_as, copy = self._new_beside(offset)
            try:
                at = offset
                while chunk := self._io.read(self._data, min(_CHUNK, self._end - at), at):
                    self._write_all(copy, chunk)
                    digest.update(chunk)
                    at += len(chunk)
                self._io.fsync(copy)
            finally:
                self._io.close(copy)
            self._io.fsync_folder(self.path.parent)
            self._io.truncate(self._data, offset)
        except OSError as error:
            raise failed(self.path, "the unfinished last line cannot be set aside", error) from error
        torn = Torn(offset, self._end - offset, digest.hexdigest(), line, saved_as)
        self._end = offset
        return torn

    def append(self, data: bytes) -> None:
        """Write one line. Raises LedgerError; the file then ends where it ended before, or is cut on the next try."""
        with self._guard:
            try:
                if self._ragged:
                    self._cut_ragged()
                self._check_size()
                self._write_row(data)
            except OSError as error:
                raise failed(self.path, "a row could not be written", error) from error
            self._unsynced.append((self._end, data))
            self._end += len(data)

    def flush(self) -> None:
        """Returns when every row appended before the call is on stable storage. Raises LedgerError.

        After a failed fsync the descriptor is exchanged, and the rows not known to be safe are written once more in
        their old place: the kernel may have marked their pages clean without storing them.
        """
        with self._guard:
            data, end = self._data, self._end
        if not self._suspect:
            try:
                self._io.fsync(data)
            except OSError:
                self._suspect = True
        with self._guard:
            if self._suspect:
                end = self._end
                try:
                    self._renew()
                except OSError as error:
                    raise failed(self.path, "rows cannot be made durable", error) from error
                self._suspect = False
            while self._unsynced and self._unsynced[0][0] < end:
                self._unsynced.popleft()

    def close(self) -> None:
        """Give up the lock and both descriptors."""
        for descriptor in (self._data, self._lock):
            if descriptor >= 0:
                with suppress(OSError):
                    self._io.close(descriptor)
        self._data = self._lock = -1

    def _begin(self, flags: int) -> None:
        found = self._io.fstat(self._lock)
        if not stat.S_ISREG(found.st_mode):
            raise LedgerError(f"{self.path}: not a file; choose another ledger with --out")
        self._identity = (found.st_dev, found.st_ino)
        _take_lock(self.path, self._io, self._lock)
        self._data = self._io.open(self.path, flags)
        self._end = self._size()
        if self._end == 0:
            self._io.fsync_folder(self.path.parent)

    def _write_row(self, data: bytes) -> None:
        try:
            self._write_all(self._data, data)
        except OSError:
            self._ragged = True
            with suppress(OSError):
                self._cut_ragged()
            raise

    def _cut_ragged(self) -> None:
        self._io.truncate(self._data, self._end)
        self._ragged = False

    def _write_all(self, descriptor: int, data: bytes) -> None:
        written = self._io.write(descriptor, data)
        while written < len(data):
            more = self._io.write(descriptor, memoryview(data)[written:])
            if more <= 0:
                raise OSError(errno.EIO, "nothing was written")
            written += more

    def _size(self) -> int:
        """Size of the file we write to, which must be the one we locked and must still have a name."""
        found = self._io.fstat(self._data)
        if found.st_nlink == 0 or (found.st_dev, found.st_ino) != self._identity:
            raise LedgerError(f"{self.path}: was removed or replaced while it was open; start a new run")
        return found.st_size

    def _check_size(self) -> None:
        size = self._size()
        if size != self._end:
            raise LedgerDamaged(
                f"{self.path}: was changed by another program ({size} bytes where {self._end} were written); "
                "look at it with fsck"
            )

    def _renew(self) -> None:
        old, self._data = self._data, -1
        if old >= 0:
            with suppress(OSError):
                self._io.close(old)
        self._data = self._io.open(self.path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW)
        if self._ragged:
            self._cut_ragged()
        self._check_size()
        in_place = self._io.open(self.path, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            if self._unsynced:
                os.lseek(in_place, self._unsynced[0][0], os.SEEK_SET)
                for _, data in self._unsynced:
                    self._write_all(in_place, data)
            self._io.fsync(in_place)
        finally:
            self._io.close(in_place)

    def _new_beside(self, offset: int) -> tuple[Path, int]:
        for attempt in range(1000):
            suffix = f".torn-{offset}" + (f".{attempt}" if attempt else "")
            path = self.path.with_name(self.path.name + suffix)
            with suppress(FileExistsError):
                return path, self._io.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
        raise OSError(errno.EEXIST, f"too many files named {self.path.name}.torn-{offset}")


def _make_folder(path: Path, io: LedgerIO) -> None:
    made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in made:
            io.fsync_folder(folder.parent)
    except OSError as error:
        raise failed(path, "its folder cannot be made", error) from error


def _open(path: Path, io: LedgerIO, flags: int) -> int:
    try:
        return io.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LedgerError(f"{path}: is a symbolic link; name the file it leads to") from error
        raise failed(path, "cannot be opened", error) from error


def _take_lock(path: Path, io: LedgerIO, lock: int) -> None:
    try:
        io.flock(lock)
    except BlockingIOError:
        owner = read_owner(path)
        who = str(owner) if owner else "another process"
        raise LedgerBusy(
            f"{path}: is being written by {who}; stop that run or choose another ledger with --out"
        ) from None
    except OSError as error:
        raise failed(path, "cannot be locked", error) from error
