"""The system calls a ledger is written with, in one class so that a test can make any one of them fail."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK_TYPES = (
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse", "fuseblk", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4",
    "pvfs2", "smb3", "smbfs", "virtiofs",
)


class LedgerIO:
    """Plain system calls. All methods raise OSError and nothing else."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """A descriptor that no child process inherits."""
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def read(self, descriptor: int, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset` on; empty at the end of the file."""
        return os.pread(descriptor, size, offset)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Number of bytes written, which may be fewer than given."""
        return os.write(descriptor, data)

    def fstat(self, descriptor: int) -> os.stat_result:
        return os.fstat(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def fsync(self, descriptor: int) -> None:
        """Returns when the file's data and size are on stable storage."""
        full = getattr(fcntl, "F_FULLFSYNC", None)
        if full is None:
            os.fsync(descriptor)
        else:  # on macOS a plain fsync stops at the drive's cache
            fcntl.fcntl(descriptor, full)

    def fsync_folder(self, folder: Path) -> None:
        """Returns when the folder's entries are on stable storage."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def flock(self, descriptor: int) -> None:
        """Take the exclusive lock at once. Raises BlockingIOError when another descriptor has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def file_system(self, folder: Path) -> str | None:
        """Type of the file system that an existing folder lies on, such as `ext4`; None where that is unknown."""
        try:
            table = _MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return None
        return type_of_mount(table, Path(os.path.realpath(folder)))


def type_of_mount(table: str, folder: Path) -> str | None:
    """File system type of the innermost mount above `folder`; `table` has the form of Linux's mountinfo.

    Of mounts over the same folder the last one is the visible one.
    """
    best: tuple[int, str] | None = None
    for line in table.splitlines():
        fields = line.split(" ")
        if "-" not in fields[6:]:
            continue
        point = Path(_unescape(fields[4]))
        kind = fields[fields.index("-", 6) + 1]
        if folder.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), kind)
    return best[1] if best else None


def is_network(kind: str | None) -> bool:
    """Whether locks and appends on a file system of this type cannot be relied on."""
    return kind is not None and kind.partition(".")[0] in _NETWORK_TYPES


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
