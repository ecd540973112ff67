"""Which folder may serve as the parent of workspaces.

The tool makes and removes folders below a workspace root, so a root is refused wherever that could touch something of
the user's. Every rule is checked before anything is created, and each refusal is one line with its cure.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import secrets
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from tui_bench.engine.removal import MARKER, Root, marker_text, read_marker
from tui_bench.errors import WorkspaceError

CURE = "choose an empty folder of your own that holds nothing else, or leave `workspace` empty for the default"
_HOMES_LIVE_IN = (Path("/home"), Path("/Users"))
_MOUNTS = Path("/proc/self/mountinfo")


def check_workspace_root(path: str | Path, *, forbidden: Sequence[Path]) -> Path:
    """The path, absolute and checked, that `claim_root` may turn into a workspace root. Creates nothing.

    `forbidden`: folders of tasks, study files, ledger and harness, and the current folder. A root may be none of them,
    lie above none and lie below none. A forbidden folder that is a home or lies above one (a run started from `~`) bars
    only itself and what lies above it, since every folder of the user lies below.
    Raises WorkspaceError.
    """
    text = os.fspath(path)
    root = _plain_absolute(text)
    homes = home_folders()
    _refuse_if(len(root.parts) < 3, text, "is the file system's root or one of its top folders")
    for home in homes:
        _refuse_if(root == home, text, "is a home folder")
        _refuse_if(_lies_in(home, root), text, f"holds the home folder {home}")
    for place in forbidden:
        folder = Path(os.path.realpath(place))
        _refuse_if(root == folder, text, f"is {folder}, which this run reads or writes")
        _refuse_if(_lies_in(folder, root), text, f"holds {folder}, which this run reads or writes")
        inside = _lies_in(root, folder) and not any(folder == home or _lies_in(home, folder) for home in homes)
        _refuse_if(inside, text, f"lies in {folder}, which this run reads or writes")
    _check_on_disk(root, text)
    return root


def _lies_in(path: Path, folder: Path) -> bool:
    return path != folder and str(path).startswith(f"{str(folder).rstrip('/')}/")


def home_folders() -> frozenset[Path]:
    """Homes of the accounts known here, real paths; the file system's root is nobody's home in this sense."""
    own = ""
    with contextlib.suppress(RuntimeError):
        own = str(Path.home())
    return _homes_and(own)


@functools.cache
def _homes_and(own: str) -> frozenset[Path]:
    texts = {own, *(entry.pw_dir for entry in pwd.getpwall())}
    for parent in _HOMES_LIVE_IN:
        if parent.is_dir():
            texts.update(str(child) for child in _children(parent))
    return frozenset(Path(os.path.realpath(text)) for text in texts if text.startswith("/")) - {Path("/")}


def _children(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return ()


def _plain_absolute(text: str) -> Path:
    _refuse_if("\0" in text, text, "holds a NUL byte")
    _refuse_if(not text.strip(), text, "is empty")
    expanded = text
    if text.startswith("~"):  # Path would take `./~/x` for it as well
        with contextlib.suppress(RuntimeError):
            expanded = str(Path(text).expanduser())
    _refuse_if(not expanded.startswith("/"), text, "is not absolute")
    _refuse_if(".." in expanded.split("/"), text, "holds `..`")
    plain = "/" + "/".join(part for part in expanded.split("/") if part not in ("", "."))
    try:
        real = os.path.realpath(plain)
    except OSError as error:
        raise WorkspaceError(f"workspace {text!r} cannot be read: {error.strerror}; {CURE}") from None
    _refuse_if(real != plain, text, f"leads through a symbolic link to {real}")
    return Path(plain)


def _check_on_disk(root: Path, text: str) -> None:
    try:
        status = root.lstat()
    except FileNotFoundError:
        _check_parent(root, text)
        return
    except OSError as error:
        raise WorkspaceError(f"workspace {text!r} cannot be read: {error.strerror}; {CURE}") from None
    _refuse_if(not stat.S_ISDIR(status.st_mode), text, "is not a folder")
    _refuse_if(os.path.ismount(root) or str(root) in mount_points(), text, "is a mount point")
    _refuse_if(status.st_uid != os.geteuid(), text, f"belongs to another user (uid {status.st_uid})")
    _refuse_if(bool(status.st_mode & 0o022), text, "can be written by other users")
    _check_parent(root, text)


def _check_parent(root: Path, text: str) -> None:
    """Whoever may rename entries of a folder above could put another folder in the root's place."""
    for parent in root.parents:
        try:
            status = parent.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WorkspaceError(f"workspace {text!r} cannot be read: {error.strerror}; {CURE}") from None
        _refuse_if(not stat.S_ISDIR(status.st_mode), text, f"has {parent} above it, which is not a folder")
        loose = bool(status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
        _refuse_if(loose, text, f"has {parent} above it, which everybody may write")


def mounts_below(folder: Path) -> list[str]:
    """Paths, relative to a folder, at which something is mounted in it."""
    top = f"{os.path.realpath(folder)}/"
    return sorted(point.removeprefix(top) for point in mount_points() if point.startswith(top))


def mount_points() -> frozenset[str]:
    """Mount points of this process, bind mounts included; empty where the system does not list them."""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return frozenset()
    return frozenset(_unescape(line.split(" ")[4]) for line in lines if line.count(" ") >= 4)


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def _refuse_if(wrong: bool, text: str, reason: str) -> None:
    if wrong:
        raise WorkspaceError(f"workspace {text!r} {reason}; {CURE}")


def claim_root(path: Path) -> Root:
    """Make or recognise a workspace root: the folder, and in it a marker with a random id.

    A new marker is put only into a folder that is new or empty. `path` has passed `check_workspace_root`. Raises
    WorkspaceError where the folder holds something else, or cannot be made or read.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise WorkspaceError(f"workspace {str(path)!r} cannot be made: {error.strerror}; {CURE}") from None
    try:
        root_id = read_marker(descriptor)
        if root_id is None:
            root_id = _new_marker(descriptor, path)
        return Root(path, root_id, os.fstat(descriptor).st_dev)
    except OSError as error:
        raise WorkspaceError(f"workspace {str(path)!r} cannot be claimed: {error.strerror}; {CURE}") from None
    finally:
        os.close(descriptor)


def _new_marker(folder: int, path: Path) -> str:
    foreign = [name for name in os.listdir(folder) if not name.startswith(MARKER)]
    _refuse_if(bool(foreign), str(path), f"is not empty and was not made by tui_bench (it holds {foreign[:1]})")
    draft = f"{MARKER}.{secrets.token_hex(8)}"
    writing = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        os.write(writing, marker_text(secrets.token_hex(16)))
    finally:
        os.close(writing)
    # a link, unlike a rename, leaves the marker of whoever claims the same folder at the same moment
    with contextlib.suppress(FileExistsError):
        os.link(draft, MARKER, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(draft, dir_fd=folder)
    found = read_marker(folder)
    if found is None:
        raise WorkspaceError(f"workspace {str(path)!r} holds a damaged {MARKER}; {CURE}")
    return found
