"""Copies of a listed tree, made with raw descriptors.

A tree that is copied once per attempt is listed once. A copy holds plain files, folders and symbolic links, each with
its permission bits and its own inode: links are copied as links and never followed, hard links become independent
files, and what is neither (FIFO, socket, device) is left out and named in `TreeListing.skipped`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READ_WHOLE = 1 << 20
"""Files up to this many bytes pass through memory in one read and one write."""
CHUNK = 1 << 20
_NO_FAST_COPY = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF}
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A regular file when listed: path relative to the tree, permission bits, size in bytes, inode, change time."""

    path: bytes
    mode: int
    size: int
    inode: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class TreeListing:
    """What a tree consists of, parents before children. Paths are raw bytes relative to `root`."""

    root: bytes
    folders: tuple[tuple[bytes, int], ...]
    files: tuple[ListedFile, ...]
    links: tuple[tuple[bytes, bytes], ...]
    skipped: tuple[tuple[bytes, str], ...] = ()
    """Path and kind of what no copy holds."""


def _listed(path: bytes, status: os.stat_result) -> ListedFile:
    mode = stat.S_IMODE(status.st_mode)
    return ListedFile(path, mode, status.st_size, status.st_ino, status.st_ctime_ns)


@contextmanager
def open_folder(path: bytes | Path) -> Iterator[int]:
    """A descriptor of a folder that is not a symbolic link."""
    descriptor = os.open(path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def list_tree(
    root: Path, *, ignore: Collection[bytes] = (), ignore_top: Collection[bytes] = ()
) -> TreeListing:
    """List a tree in byte order. Names in `ignore` are left out at any depth, those in `ignore_top` at the top.

    Raises OSError where a folder cannot be read.
    """
    base = os.fsencode(root)
    folders: list[tuple[bytes, int]] = []
    files: list[ListedFile] = []
    links: list[tuple[bytes, bytes]] = []
    skipped: list[tuple[bytes, str]] = []
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(os.path.join(base, prefix)) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name in ignore or (not prefix and entry.name in ignore_top):
                continue
            path = prefix + entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                folders.append((path, stat.S_IMODE(status.st_mode)))
                waiting.append(path + b"/")
            elif stat.S_ISREG(status.st_mode):
                files.append(_listed(path, status))
            elif stat.S_ISLNK(status.st_mode):
                links.append((path, os.readlink(entry.path)))
            else:
                skipped.append((path, _KINDS.get(stat.S_IFMT(status.st_mode), "special")))
    folders.sort()
    return TreeListing(base, tuple(folders), tuple(files), tuple(links), tuple(skipped))


def copy_tree(listing: TreeListing, destination: Path, *, without: Collection[bytes] = ()) -> None:
    """Copy a listed tree to a folder that is made here, or exists and holds none of the tree's names.

    `without`: paths of files and links to leave out. Nothing is ever written over. Raises OSError: ESTALE where a
    file is not the one that was listed (inode and change time, which no program can set back), EEXIST among others.
    """
    destination.mkdir(mode=0o755, exist_ok=True)
    with open_folder(listing.root) as source, open_folder(destination) as target:
        for path, _ in listing.folders:
            os.mkdir(path, 0o700, dir_fd=target)
        for file in listing.files:
            if file.path not in without:
                copy_file(source, file.path, target, file.path, mode=file.mode, size=file.size, listed=file)
        for path, text in listing.links:
            if path not in without:
                os.symlink(text, path, dir_fd=target)
        for path, mode in reversed(listing.folders):
            # last, deepest first: a folder without write permission takes no more entries
            os.chmod(path, mode, dir_fd=target)


def copy_file(
    source: int,
    source_path: bytes,
    target: int,
    target_path: bytes,
    *,
    mode: int,
    size: int,
    listed: ListedFile | None = None,
) -> None:
    """Copy one regular file between two open folders; `size` is a hint, the bytes read decide.

    Raises OSError: ELOOP where the source is a symbolic link, EEXIST where the target exists, ESTALE where the
    source is not the file that was `listed`.
    """
    reading = os.open(source_path, _READ, dir_fd=source)
    try:
        if listed is not None:
            _check_unchanged(reading, listed)
        writing = os.open(target_path, _CREATE, 0o600, dir_fd=target)
        try:
            if size <= READ_WHOLE:
                content = os.read(reading, size + 1)
                _write(writing, content)
                if len(content) != size:
                    _copy_rest(reading, writing)
            else:
                _copy_rest(reading, writing)
            # an explicit mode does not depend on the umask of whoever started the run
            os.fchmod(writing, mode & 0o777)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _check_unchanged(descriptor: int, listed: ListedFile) -> None:
    status = os.fstat(descriptor)
    if (status.st_ino, status.st_ctime_ns) != (listed.inode, listed.changed_ns):
        shown = listed.path.decode("utf-8", "backslashreplace")
        raise OSError(errno.ESTALE, "changed after the run had listed it, so its copy is not what was hashed", shown)


def _copy_rest(reading: int, writing: int) -> None:
    if hasattr(os, "copy_file_range"):
        try:
            while os.copy_file_range(reading, writing, 1 << 30):
                pass
        except OSError as error:
            if error.errno not in _NO_FAST_COPY:
                raise
    # also after a fast copy: some file systems answer 0 before the end
    while content := os.read(reading, CHUNK):
        _write(writing, content)


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
