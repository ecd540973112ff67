"""Manifests of folders, and the digests made of them: one way to say what a tree is, for study and engine.

A manifest lists every entry below a folder by its path in bytes: kind, permission bits, size and the sha256 of
its content (for a link: its target). Names, modes and empty folders count, times do not. Nothing is followed and
nothing but regular files is opened, so pipes, sockets and devices cannot block the walk, and it goes by
descriptors one level at a time, so neither depth nor the length of a path limits it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from tui_bench.study.model import Task

EntryKind = Literal["f", "d", "l", "o"]
"""Regular file, folder, symbolic link, other (pipe, socket, device: listed, never opened)."""

_BUFFER_BYTES = 256 * 1024
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_MODE_BITS = 0o7777
_UNREADABLE = b"unreadable"


class Entry(NamedTuple):
    """One entry of a tree. A tuple because thousands are made in the hashing loop."""

    path: bytes
    """Relative to the manifest's folder, parts separated by `/`."""
    kind: EntryKind
    mode: int
    """Permission bits; 0 for a link."""
    size: int
    """Bytes of a file or of a link's target; 0 otherwise."""
    content: bytes
    """sha256 (32 bytes) of a file, target of a link, type of an `o`; empty for a folder, `unreadable` where
    the system refused to open it."""

    @property
    def executable(self) -> bool:
        return self.kind == "f" and bool(self.mode & stat.S_IXUSR)

    @property
    def name(self) -> str:
        """The path for people and rows: bytes that are not UTF-8 are shown as `\\xNN`."""
        return self.path.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Ignore:
    """What a manifest leaves out, folders with all they hold."""

    names: frozenset[bytes] = frozenset()
    """Names left out at every depth."""
    paths: frozenset[bytes] = frozenset()
    """Paths relative to the manifest's folder."""


NOTHING = Ignore()
REPO_IGNORE = Ignore(names=frozenset({b".git", b"__pycache__", b".pytest_cache"}))
"""A task's source tree: histories and caches are no part of it, neither hashed nor copied."""
ORACLE_IGNORE = Ignore(names=frozenset({b"__pycache__"}), paths=frozenset({b"sha256.txt"}))
"""An oracle: a checksum file that covers the tree cannot lie inside what it covers."""


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs; `before` is None for a new path, `after` for one that is gone."""

    path: bytes
    before: Entry | None
    after: Entry | None

    @property
    def what(self) -> Literal["added", "removed", "type", "content", "mode"]:
        """The first that applies; a file whose content and mode both differ reads `content`."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        if self.before.kind != self.after.kind:
            return "type"
        return "content" if self.before.content != self.after.content else "mode"


@dataclass(frozen=True, slots=True)
class Manifest:
    """All entries below a folder, sorted by path."""

    entries: tuple[Entry, ...]

    @property
    def unreadable(self) -> tuple[Entry, ...]:
        """Files and folders the system refused to open: their content is not known."""
        return tuple(entry for entry in self.entries if entry.kind in "fd" and entry.content == _UNREADABLE)

    def digest(self, *, every_mode_bit: bool = False) -> str:
        """sha256 hex over length-prefixed entries.

        By default a mode counts as git keeps it (executable or not), so that two checkouts under different
        umasks are the same tree; with `every_mode_bit` any chmod of a file or folder shows.
        """
        parts = [_encoded(entry, every_mode_bit) for entry in self.entries]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def _encoded(entry: Entry, every_mode_bit: bool) -> bytes:
    path, kind, mode, size, content = entry
    shown = mode if every_mode_bit else (0o111 if entry.executable else 0)
    return b"%s%d:%s,%o,%d,%d:%s;" % (kind.encode(), len(path), path, shown, size, len(content), content)


def changes(base: Manifest, final: Manifest, *, every_mode_bit: bool = False) -> tuple[Change, ...]:
    """What differs between two manifests of the same folder, sorted by path."""
    before = {entry.path: entry for entry in base}
    after = {entry.path: entry for entry in final}
    return tuple(
        Change(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if _differ(before.get(path), after.get(path), every_mode_bit)
    )


def _differ(before: Entry | None, after: Entry | None, every_mode_bit: bool) -> bool:
    if before is None or after is None:
        return before is not after
    if before == after:
        return False
    return _encoded(before, every_mode_bit) != _encoded(after, every_mode_bit)


def manifest(root: Path | bytes | str, ignore: Ignore = NOTHING) -> Manifest:
    """The manifest of everything below `root`.

    Entries that cannot be opened are listed with the content `unreadable`. Raises OSError where `root` itself is
    no readable folder or the tree moves while it is read.
    """
    walk = _Walk(ignore)
    return Manifest(tuple(sorted(walk.entries_below(os.fspath(root)))))


def file_sha256(path: Path) -> str:
    """sha256 hex of one regular file, links not followed. Raises OSError."""
    descriptor = os.open(path, _OPEN_FILE)
    try:
        return _content(descriptor, os.fstat(descriptor).st_size, memoryview(bytearray(_BUFFER_BYTES))).hex()
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class _Level:
    """A folder on the way from the root to where the walk stands."""

    prefix: bytes
    identity: tuple[int, int]
    pending: list[str]


class _Walk:
    """Depth first over descriptors. Only the current folder is open; the way up is `..`, checked by inode."""

    def __init__(self, ignore: Ignore) -> None:
        self._ignore = ignore
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._entries: list[Entry] = []

    def entries_below(self, root: str | bytes) -> list[Entry]:
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            levels = [self._read_folder(here, b"")]
            while True:
                level = levels[-1]
                if level.pending:
                    name = level.pending.pop()
                    child = self._enter(here, name, level)
                    if child is not None:
                        os.close(here)
                        here = child
                        levels.append(self._read_folder(here, level.prefix + os.fsencode(name) + b"/"))
                    continue
                levels.pop()
                if not levels:
                    return self._entries
                above = os.open("..", _OPEN_FOLDER, dir_fd=here)
                os.close(here)
                here = above
                if _identity(os.fstat(here)) != levels[-1].identity:
                    raise OSError(f"folder moved while it was read: {levels[-1].prefix!r}")
        finally:
            os.close(here)

    def _enter(self, here: int, name: str, level: _Level) -> int | None:
        """Descriptor of a subfolder after listing it, or None where it cannot be read and left again."""
        path = level.prefix + os.fsencode(name)
        child = -1
        try:
            child = os.open(name, _OPEN_FOLDER, dir_fd=here)
            os.stat("..", dir_fd=child)  # without search permission there would be no way back
            self._entries.append(Entry(path, "d", stat.S_IMODE(os.fstat(child).st_mode), 0, b""))
        except PermissionError:
            if child >= 0:
                os.close(child)
            mode = stat.S_IMODE(os.lstat(name, dir_fd=here).st_mode)
            self._entries.append(Entry(path, "d", mode, 0, _UNREADABLE))
            return None
        return child

    def _read_folder(self, here: int, prefix: bytes) -> _Level:
        """List a folder: all but subfolders goes to the entries at once, subfolders are left pending."""
        folders: list[str] = []
        names, paths = self._ignore.names, self._ignore.paths
        with os.scandir(here) as found:
            for item in found:
                text = item.name
                name = os.fsencode(text)
                path = prefix + name
                if name in names or path in paths:
                    continue
                if item.is_file(follow_symlinks=False):
                    self._entries.append(self._file(here, text, path))
                elif item.is_dir(follow_symlinks=False):
                    folders.append(text)
                else:
                    self._entries.append(_special(here, text, path))
        return _Level(prefix, _identity(os.fstat(here)), folders)

    def _file(self, here: int, name: str, path: bytes) -> Entry:
        try:
            descriptor = os.open(name, _OPEN_FILE, dir_fd=here)
        except PermissionError:
            found = os.lstat(name, dir_fd=here)
            return Entry(path, "f", stat.S_IMODE(found.st_mode), found.st_size, _UNREADABLE)
        try:
            found = os.fstat(descriptor)
            size = found.st_size
            content = _content(descriptor, size, self._buffer)
        finally:
            os.close(descriptor)
        return Entry(path, "f", found.st_mode & _MODE_BITS, size, content)


def _content(descriptor: int, size: int, buffer: memoryview) -> bytes:
    """sha256 of `size` bytes: a file that fits the buffer costs one read, because its end need not be looked for."""
    count = os.readv(descriptor, [buffer]) if size else 0
    digest = hashlib.sha256(buffer[:count])
    left = size - count
    while left > 0 and count:
        count = os.readv(descriptor, [buffer])
        digest.update(buffer[:count])
        left -= count
    return digest.digest()


def _special(here: int, name: str, path: bytes) -> Entry:
    found = os.lstat(name, dir_fd=here)
    if stat.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(name, dir_fd=here))
        return Entry(path, "l", 0, len(target), target)
    kind = stat.filemode(found.st_mode)[0].encode()
    return Entry(path, "o", stat.S_IMODE(found.st_mode), 0, kind)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return (found.st_dev, found.st_ino)


class TaskDigests(NamedTuple):
    """sha256 hex each; None where the task has no such part."""

    task_sha: str
    """Source tree, reference patch, and everything else the task declares that can change a verdict."""
    oracle_sha: str | None
    prompt_sha: str | None


def task_digests(task: Task) -> TaskDigests:
    """The digests of a task as it lies on disk now. Raises OSError where a part of it is gone or unreadable."""
    declared = {
        "tree": manifest(task.repo, REPO_IGNORE).digest(),
        "base_commit": task.base_commit,
        "reference": None if task.reference is None else file_sha256(task.reference),
        "verify": task.verify,
        "verify_timeout": repr(float(task.verify_timeout)),
        "fail_codes": None if task.fail_codes is None else sorted(task.fail_codes),
        "expect_tests": task.expect_tests,
        "oracle_place": task.oracle_place,
        "protected": task.protected,
        "writable": task.writable,
        "network": task.network,
    }
    text = json.dumps(declared, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return TaskDigests(
        task_sha=hashlib.sha256(text.encode("ascii")).hexdigest(),
        oracle_sha=None if task.oracle is None else manifest(task.oracle, ORACLE_IGNORE).digest(),
        prompt_sha=None if task.prompt is None else file_sha256(task.prompt),
    )
