"""Removal of folders that the tool made, and of nothing else.

A removal starts from a workspace root whose marker still carries the id it was claimed with, takes only names the
tool gives, goes down by descriptors and never follows a link or crosses a mount. Depth, permissions and special
files do not stop it: one folder is open at a time, the way up is `..` checked by inode.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from tui_bench.errors import WorkspaceError

MARKER = ".tui_bench-root"
_MARKER_TEXT = re.compile(rb"tui_bench workspace root\nid ([0-9a-f]{32})\n")
RUN_PREFIX = "run-"
TRASH_PREFIX = ".trash-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALL_MINE = stat.S_IRWXU


@dataclass(frozen=True, slots=True)
class Root:
    """A claimed workspace root: its real path, the id in its marker, its device number."""

    path: Path
    id: str
    device: int


def marker_text(root_id: str) -> bytes:
    return b"tui_bench workspace root\nid %s\n" % root_id.encode("ascii")


def read_marker(folder: int) -> str | None:
    """Id in the marker of an open folder; None where there is no valid one."""
    try:
        descriptor = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None
        found = _MARKER_TEXT.fullmatch(os.read(descriptor, 256))
    finally:
        os.close(descriptor)
    return found[1].decode("ascii") if found else None


def open_root(root: Root) -> int:
    """Descriptor of a claimed root. Raises WorkspaceError where it is no longer the folder that was claimed."""
    try:
        descriptor = os.open(root.path, _FOLDER)
    except OSError as error:
        raise WorkspaceError(f"workspace root {root.path} is gone: {error.strerror}") from None
    if read_marker(descriptor) != root.id or os.fstat(descriptor).st_dev != root.device:
        os.close(descriptor)
        raise WorkspaceError(f"workspace root {root.path} is not the one this run claimed: nothing is removed in it")
    return descriptor


def remove(root: Root, path: Path) -> None:
    """Remove one folder below a claimed root. What is already gone is no error.

    Raises WorkspaceError where the path is not the tool's, a mount lies in it, or something in it cannot be removed;
    everything that could be removed is gone then.
    """
    names = _own_names(root, path)
    here = open_root(root)
    try:
        for name in names[:-1]:
            try:
                below = os.open(name, _FOLDER, dir_fd=here)
            except FileNotFoundError:
                return
            os.close(here)
            here = below
        if _is_folder(here, os.fsencode(names[-1])):
            left = _Removal(root.device, mount_id(here)).remove(here, os.fsencode(names[-1]))
        else:
            left = _unlink(here, os.fsencode(names[-1]))
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be removed: {error.strerror}") from None
    finally:
        os.close(here)
    if left is not None:
        raise WorkspaceError(f"{path} cannot be removed: {left}; remove it by hand")


def _own_names(root: Root, path: Path) -> tuple[str, ...]:
    """Names from the root down to `path`, refused unless the first is one that only the tool gives."""
    try:
        names = path.relative_to(root.path).parts
    except ValueError:
        raise WorkspaceError(f"{path} does not lie in the workspace root {root.path}: not removed") from None
    if not names or ".." in names or not names[0].startswith((RUN_PREFIX, TRASH_PREFIX)):
        raise WorkspaceError(f"{path} was not made by tui_bench: not removed")
    return names


def mount_id(descriptor: int) -> int | None:
    """Number of the mount that an open folder was reached through; None where the system does not tell."""
    try:
        told = Path(f"/proc/self/fdinfo/{descriptor}").read_text("ascii")
    except OSError:
        return None
    found = re.search(r"^mnt_id:\s*(\d+)", told, re.MULTILINE)
    return int(found[1]) if found else None


def _is_folder(folder: int, name: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False


def _unlink(folder: int, name: bytes) -> str | None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{name.decode('utf-8', 'backslashreplace')}: {error.strerror}"
    return None


@dataclass(slots=True)
class _Level:
    name: bytes
    identity: tuple[int, int]
    pending: list[bytes]


class _Removal:
    """Depth first; whatever refuses to go is remembered and the rest is removed all the same."""

    def __init__(self, device: int, mount: int | None) -> None:
        self._device = device
        self._mount = mount
        self._left: str | None = None

    def remove(self, parent: int, name: bytes) -> str | None:
        """Remove the folder `name` of an open folder; the first thing that could not be removed, or None."""
        here = self._enter(parent, name)
        if here is None:
            return self._left
        levels: list[_Level] = []
        try:
            levels.append(self._empty(here, name))
            while True:
                level = levels[-1]
                if level.pending:
                    child = level.pending.pop()
                    below = self._enter(here, child)
                    if below is not None:
                        os.close(here)
                        here = below
                        levels.append(self._empty(here, child))
                    continue
                levels.pop()
                if not levels:
                    break
                above = os.open("..", _FOLDER, dir_fd=here)
                os.close(here)
                here = above
                if _identity(here) != levels[-1].identity:
                    raise WorkspaceError(f"a folder moved while {name!r} was removed: removal stopped")
                self._rmdir(here, level.name)
        finally:
            os.close(here)
        self._rmdir(parent, name)
        return self._left

    def _enter(self, folder: int, name: bytes) -> int | None:
        try:
            below = os.open(name, _FOLDER, dir_fd=folder)
        except PermissionError:
            below = _open_locked(folder, name)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._keep(name, error.strerror)
            return None
        status = os.fstat(below)
        # A folder of the same file system that is mounted here again has the device's number, but not the mount's.
        if status.st_dev != self._device or mount_id(below) != self._mount:
            os.close(below)
            self._keep(name, "something is mounted there")
            return None
        if status.st_mode & _ALL_MINE != _ALL_MINE and status.st_uid == os.geteuid():
            os.fchmod(below, stat.S_IMODE(status.st_mode) | _ALL_MINE)
        return below

    def _empty(self, here: int, name: bytes) -> _Level:
        """Unlink all but the subfolders of an open folder, which are left pending."""
        folders: list[bytes] = []
        with os.scandir(here) as found:
            entries = [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in found]
        for child, is_folder in entries:
            if is_folder:
                folders.append(child)
            elif (left := _unlink(here, child)) is not None:
                self._left = self._left or left
        return _Level(name, _identity(here), folders)

    def _rmdir(self, folder: int, name: bytes) -> None:
        try:
            os.rmdir(name, dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            self._keep(name, error.strerror)

    def _keep(self, name: bytes, reason: str | None) -> None:
        # the first cause; that the folders above are then not empty says nothing new
        self._left = self._left or f"{name.decode('utf-8', 'backslashreplace')}: {reason}"


def _open_locked(folder: int, name: bytes) -> int:
    """Open a folder without read permission, after giving its owner all permissions."""
    if hasattr(os, "O_PATH") and os.path.isdir("/proc/self/fd"):
        pinned = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{pinned}", _ALL_MINE)
        finally:
            os.close(pinned)
    else:
        os.chmod(name, _ALL_MINE, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return (status.st_dev, status.st_ino)
