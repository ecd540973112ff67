"""The tree that is verified: the task's source, the allowed part of a change, the pristine oracle.

Nothing is verified in a folder the agent has touched. What it changed outside the writable globs, within the deny
set or at the place of an overlaid oracle is dropped and listed, and the verdict is as earned; a protected path that
differs is reported and voids the attempt. Links are taken over only where they stay inside the tree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tui_bench.engine.copier import TreeListing, copy_file, copy_tree, open_folder
from tui_bench.engine.denied import Denied, alters_test_settings
from tui_bench.engine.globs import Globs
from tui_bench.engine.oracle import names_below
from tui_bench.engine.patch import Change
from tui_bench.engine.template import Template
from tui_bench.engine.workspace import VerifyFolders
from tui_bench.study import digest
from tui_bench.study.model import Controls, Task

_PATH_LIMIT = 4000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a change. Paths are shown ones, sorted."""

    dropped: tuple[str, ...]
    """Not in the verify tree; the verdict is as earned."""
    forbidden: tuple[str, ...]
    """Protected paths that differ from the source: `void: forbidden_edit`."""
    placed: frozenset[bytes]
    """Everything in the tree before verify runs, for `oracle.left_behind`."""


def build(
    place: VerifyFolders, task: Task, template: Template, change: Change | None, controls: Controls | None
) -> Taken:
    """Build the tree in `place.repo`, which does not exist yet, and the oracle beside or over it.

    Sets `place.oracle` where the oracle lies beside. Raises OSError: ESTALE where the run's copy of the source or of
    the oracle is not what was listed.
    """
    overlaid = _overlaid(task, template)
    paths = change.paths if change is not None else ()
    rules = _Rules(task, template, controls, change, overlaid)
    allowed = [one for one in paths if rules.allows(one)]
    gone = {one.path for one in allowed if one.before is not None}
    copy_tree(template.tree, place.repo, without=gone | overlaid)
    dropped = {one.path for one in paths} - {one.path for one in allowed}
    if change is not None and allowed:
        _drop_emptied_folders(place.repo, template, allowed)
        dropped |= _take_over(place.repo, change, allowed)
    if template.oracle is not None:
        if task.oracle_place == "overlay":
            _lay_over(template.oracle, place.repo)
        else:
            place.oracle = place.repo.parent / "oracle"
            copy_tree(template.oracle, place.oracle)
    forbidden = [one.path for one in paths if rules.protects(one.path)]
    return Taken(_shown(dropped), _shown(forbidden), names_below(place.repo))


def _overlaid(task: Task, template: Template) -> frozenset[bytes]:
    """Paths that the oracle takes in the repo."""
    if template.oracle is None or task.oracle_place != "overlay":
        return frozenset()
    return frozenset(file.path for file in template.oracle.files) | {path for path, _ in template.oracle.links}


class _Rules:
    """Which changed paths a task's and a study's rules let into the tree."""

    def __init__(
        self,
        task: Task,
        template: Template,
        controls: Controls | None,
        change: Change | None,
        overlaid: frozenset[bytes],
    ) -> None:
        paths = change.paths if change is not None else ()
        wide = controls.writable_paths if controls is not None else None
        self._writable = Globs(task.writable)
        self._also_writable = Globs(wide if wide is not None else ("**",), from_task_folder=True)
        self._protected = Globs(task.protected)
        self._forbidden = Globs(controls.forbidden_edits if controls is not None else (), from_task_folder=True)
        self._overlaid = overlaid
        self._over_oracle = {above for path in overlaid for above in _above(path)}
        self._base = Path(os.fsdecode(template.tree.root))
        self._final = change.repo if change is not None else self._base
        tops = {path.split(b"/", 1)[0] for path, _ in template.tree.folders}
        tops |= {file.path.split(b"/", 1)[0] for file in template.tree.files}
        self._denied = Denied(tops, (one.path for one in paths if one.after is not None))

    def protects(self, path: bytes) -> bool:
        return self._protected.match(path) or self._forbidden.match(path)

    def allows(self, one: digest.Change) -> bool:
        path, after = one.path, one.after
        if len(path) > _PATH_LIMIT or self.protects(path) or self._at_oracle(path):
            return False
        if not (self._writable.match(path) and self._also_writable.match(path)):
            return False
        if after is not None and after.kind == "l" and not stays_inside(path, after.content):
            return False
        if self._writable.names(path):
            return True
        return not self._denied.match(path) and not self._alters_test_settings(path)

    def _at_oracle(self, path: bytes) -> bool:
        """Whether a path is, holds or lies below a place that the overlaid oracle takes."""
        taken = self._overlaid
        return path in taken or path in self._over_oracle or any(above in taken for above in _above(path))

    def _alters_test_settings(self, path: bytes) -> bool:
        name = path.rpartition(b"/")[2]
        return alters_test_settings(name, self._base / os.fsdecode(path), self._final / os.fsdecode(path))


def _above(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def stays_inside(path: bytes, target: bytes) -> bool:
    """Whether a link at `path` leads inside the tree, whatever other links of the tree lie on its way.

    `..` may only come first: after a name, which may itself be a link, it could lead anywhere.
    """
    if not target or target.startswith(b"/"):
        return False
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    ups = next((at for at, part in enumerate(parts) if part != b".."), len(parts))
    return ups <= path.count(b"/") and b".." not in parts[ups:]


def _drop_emptied_folders(repo: Path, template: Template, allowed: Iterable[digest.Change]) -> None:
    """Remove folders that lost their last file, as applying a patch would; those empty in the source stay."""
    emptied = {above for one in allowed if one.before is not None for above in (one.path, *_above(one.path))}
    for path, _ in reversed(template.tree.folders):
        if path in emptied:
            with suppress(OSError):
                (repo / os.fsdecode(path)).rmdir()


def _take_over(repo: Path, change: Change, allowed: Iterable[digest.Change]) -> set[bytes]:
    """Copy new versions of allowed paths; those for which a dropped one left no place."""
    failed: set[bytes] = set()
    wanted = [one for one in allowed if one.after is not None and one.after.kind in "fl"]
    if not wanted:
        return failed
    with open_folder(change.repo) as source, open_folder(repo) as target:
        for one in wanted:
            assert one.after is not None
            try:
                with _parent(target, one.path) as (folder, name):
                    if one.after.kind == "l":
                        os.symlink(one.after.content, name, dir_fd=folder)
                    else:
                        mode = 0o755 if one.after.executable else 0o644
                        copy_file(source, one.path, folder, name, mode=mode, size=one.after.size)
            except (NotADirectoryError, FileExistsError):
                failed.add(one.path)
    return failed


@contextmanager
def _parent(root: int, path: bytes) -> Iterator[tuple[int, bytes]]:
    """The open folder of a path, made where it is missing, and the path's last name. No link is followed."""
    *folders, name = path.split(b"/")
    here = os.dup(root)
    try:
        for folder in folders:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o755, dir_fd=here)
            below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here, name
    finally:
        os.close(here)


def _lay_over(oracle: TreeListing, repo: Path) -> None:
    with open_folder(oracle.root) as source, open_folder(repo) as target:
        for file in oracle.files:
            with _parent(target, file.path) as (folder, name):
                copy_file(source, file.path, folder, name, mode=file.mode, size=file.size, listed=file)
        for path, text in oracle.links:
            with _parent(target, path) as (folder, name):
                os.symlink(text, name, dir_fd=folder)


def _shown(paths: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(path.decode("utf-8", "backslashreplace") for path in sorted(paths))
