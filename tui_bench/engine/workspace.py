"""Folders of a run and of its attempts.

A run has one folder `run-<run_id>` per workspace root, locked while the run lives; an attempt has one below it, named
by nothing but its attempt id. A reset is a new folder: the old one is renamed into the run's trash at once and removed
by a thread of its own. Folders of runs that died under the same root are swept when the next run opens it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import queue
import re
import secrets
import shutil
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui_bench.engine import host
from tui_bench.engine.copier import copy_tree
from tui_bench.engine.guard import check_workspace_root, claim_root
from tui_bench.engine.removal import RUN_PREFIX, TRASH_PREFIX, Root, remove
from tui_bench.environments.cache import cache_folder
from tui_bench.errors import WorkspaceError

if TYPE_CHECKING:
    from tui_bench.engine.patch import Change
    from tui_bench.engine.template import Template

LOCK = ".lock"
OWNER = ".owner"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ATTEMPT_ID = re.compile(r"[0-9a-f]{16}")


def default_workspace() -> Path:
    """Workspace root of environments that name none; real, since a home may itself lie behind a link."""
    return Path(os.path.realpath(cache_folder() / "work"))


class RunRoot:
    """One run's folder below a claimed root. Open it once per root; environments with the same root share it."""

    def __init__(self, root: Root, run_id: str, lock: int) -> None:
        self.root = root
        self.run_id = run_id
        self.path = root.path / f"{RUN_PREFIX}{run_id}"
        self.failures: list[str] = []
        """One line for each folder that could not be removed."""
        self._trash = root.path / f"{TRASH_PREFIX}{run_id}"
        self._lock = lock
        self._doomed: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._remover = threading.Thread(target=self._remove_all, name="workspace-remover", daemon=True)
        self._remover.start()

    @classmethod
    def open(cls, root: Root, run_id: str) -> RunRoot:
        """Make and lock the folder of a run, and send folders of dead runs to the trash.

        Raises WorkspaceError where a live run of this id holds it, or it cannot be made.
        """
        if not _RUN_ID.fullmatch(run_id):
            raise WorkspaceError(f"run id {run_id!r} cannot name a folder: letters, digits, `.`, `_` and `-` only")
        try:
            with _locked(root):
                return cls._open(root, run_id)
        except OSError as error:
            raise WorkspaceError(f"workspace root {root.path} cannot be used: {error.strerror}") from None

    @classmethod
    def _open(cls, root: Root, run_id: str) -> RunRoot:
        trash = root.path / f"{TRASH_PREFIX}{run_id}"
        trash.mkdir(mode=0o700, exist_ok=True)
        path = root.path / f"{RUN_PREFIX}{run_id}"
        dead = [found for found in _runs(root) if found != path and _is_dead(found, root)]
        if os.path.lexists(path):
            if not _is_dead(path, root):
                raise WorkspaceError(f"run {run_id} is at work in {path} (process {_owner(path).get('pid')})")
            dead.append(path)
        for found in dead:
            found.rename(trash / secrets.token_hex(8))
        fresh = trash / secrets.token_hex(8)
        fresh.mkdir(mode=0o700)
        (fresh / OWNER).write_text(json.dumps(_identity(root)), "utf-8")
        lock = os.open(fresh / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(path)
        opened = cls(root, run_id, lock)
        for leftover in (*_orphaned_trash(root, run_id), *trash.iterdir()):
            opened._doomed.put(leftover)
        return opened

    def discard(self, path: Path) -> None:
        """Take a folder of this run out of the way now; it is removed in the background. Raises OSError."""
        grave = self._trash / secrets.token_hex(8)
        try:
            if stat.S_ISDIR(path.lstat().st_mode):
                path.chmod(0o700)  # moving a folder changes its `..`, which needs write permission
            path.rename(grave)
        except FileNotFoundError:
            return
        self._doomed.put(grave)

    def close(self) -> None:
        """Remove everything of this run and release its lock; returns when it is done."""
        if self._lock < 0:
            return
        with contextlib.suppress(FileNotFoundError):
            # as a whole first: a run that is killed from here on leaves nothing but trash, which the next one finds
            self.path.rename(self._trash / secrets.token_hex(8))
        self._doomed.put(self._trash)
        self._doomed.put(None)
        self._remover.join()
        os.close(self._lock)
        self._lock = -1

    def _remove_all(self) -> None:
        while (path := self._doomed.get()) is not None:
            self._remove(path)

    def _remove(self, path: Path) -> None:
        try:
            remove(self.root, path)
        except WorkspaceError as error:
            self.failures.append(str(error))


def claim_run_root(path: str | Path, run_id: str, *, forbidden: Sequence[Path]) -> RunRoot:
    """Check and claim a workspace root, and open the run's folder in it. Raises WorkspaceError."""
    return RunRoot.open(claim_root(check_workspace_root(path, forbidden=forbidden)), run_id)


@contextlib.contextmanager
def _locked(root: Root) -> Iterator[None]:
    """Held only while run folders are made and dead ones moved, so that no run is taken for dead as it starts."""
    descriptor = os.open(root.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _runs(root: Root) -> list[Path]:
    return [path for path in root.path.iterdir() if path.name.startswith(RUN_PREFIX)]


def _orphaned_trash(root: Root, run_id: str) -> list[Path]:
    """Trash of runs that have no folder any more: they died while they were closing."""
    return [
        path
        for path in root.path.iterdir()
        if path.name.startswith(TRASH_PREFIX)
        and path.name != f"{TRASH_PREFIX}{run_id}"
        and not os.path.lexists(root.path / f"{RUN_PREFIX}{path.name.removeprefix(TRASH_PREFIX)}")
    ]


def _identity(root: Root) -> dict[str, str | int | None]:
    pid = os.getpid()
    return {
        "root": root.id,
        "pid": pid,
        "start_time": host.start_time(pid),
        "host": host.host_name(),
        "boot_id": host.boot_id(),
    }


def _owner(path: Path) -> dict[str, object]:
    try:
        found = json.loads((path / OWNER).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_dead(path: Path, root: Root) -> bool:
    """Whether a run folder was made under this root by a run of this tool that is known to be over."""
    owner = _owner(path)
    if path.is_symlink() or owner.get("root") != root.id or owner.get("host") != host.host_name():
        return False
    try:
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    pid, started = owner.get("pid"), owner.get("start_time")
    if not isinstance(pid, int) or pid == os.getpid() or owner.get("boot_id") != host.boot_id():
        return True
    return not host.alive(pid, started if isinstance(started, int) else None)


@dataclass(slots=True)
class VerifyFolders:
    """Folders of one run of verify. `oracle` is None until the tree is built, and where none lies beside the repo."""

    repo: Path
    home: Path
    tmp: Path
    oracle: Path | None = None


class AttemptFolders:
    """Folders of one attempt: `repo`, `home`, `tmp`, `input`, `output` for the agent, one set per run of verify."""

    def __init__(self, run: RunRoot, attempt_id: str) -> None:
        if not _ATTEMPT_ID.fullmatch(attempt_id):
            raise WorkspaceError(f"attempt id {attempt_id!r} is not 16 hex digits")
        self.run = run
        self.path = run.path / attempt_id
        self.repo = self.path / "repo"
        self.home = self.path / "home"
        self.tmp = self.path / "tmp"
        self.input = self.path / "input"
        self.output = self.path / "output"
        self.change: Change | None = None
        """What the agent changed; None where no agent ran."""
        self.path.mkdir(mode=0o700)
        # Held open until the end: while it is, no other folder or link can be given its inode number.
        self._held = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def create_workspace(self, template: Template, *, with_git: bool, prompt: Path | None) -> None:
        """The agent's folders: a copy of the template, the prompt, empty folders. Raises OSError, WorkspaceError."""
        for folder in (self.home, self.tmp, self.input, self.output):
            folder.mkdir(mode=0o700)
        copy_tree(template.tree, self.repo)
        if with_git:
            copy_tree(template.require_git(), self.repo / ".git")
        own_usage = self.repo / "usage.json"
        if own_usage.is_file() and not own_usage.is_symlink():
            # a file of the task's own is no usage report: it reads as older than the attempt
            os.utime(own_usage, ns=(0, 0))
        if prompt is not None:
            shutil.copyfile(prompt, self.input / "prompt.md")

    def verify(self, number: int) -> VerifyFolders:
        """Empty folders for the number-th run of verify (0: the one that decides).

        What an agent put in their place is thrown away. Raises OSError: ESTALE where the attempt's folder itself was
        replaced.
        """
        if not os.path.samestat(self.path.lstat(), os.fstat(self._held)):
            raise OSError(errno.ESTALE, "is not the folder that was made for the attempt", str(self.path))
        base = self.path / ("verify" if number == 0 else f"verify.{number}")
        self.run.discard(base)
        base.mkdir(mode=0o700)
        folders = VerifyFolders(base / "repo", base / "home", base / "tmp")
        folders.home.mkdir(mode=0o700)
        folders.tmp.mkdir(mode=0o700)
        return folders

    def dispose(self) -> None:
        """Take everything out of the way; nothing of it is read again."""
        os.close(self._held)
        self.run.discard(self.path)
