"""The hidden test's integrity, and what verify leaves behind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tui_bench.engine.git import GitFailed, git
from tui_bench.engine.template import Template
from tui_bench.engine.workspace import VerifyFolders
from tui_bench.errors import EnvironmentUnavailable
from tui_bench.study.digest import ORACLE_IGNORE, manifest
from tui_bench.study.model import Task

_CACHES = frozenset({b"__pycache__", b".pytest_cache"})
_TMP_CACHE = b"pytest-of-"
"""pytest keeps the temporary folders of its last runs on purpose."""


def intact(task: Task, expected: str | None) -> bool:
    """Whether a task's hidden folder still has the digest it had when the run began. True where there is none.

    Names, content and executable bits count, times do not; `sha256.txt` and bytecode in it are no part of it.
    """
    if task.oracle is None:
        return expected is None
    try:
        return manifest(task.oracle, ORACLE_IGNORE).digest() == expected
    except OSError:
        return False


def names_below(folder: Path) -> frozenset[bytes]:
    """Paths of everything below a folder, relative to it. Folders that cannot be read are named and not entered."""
    root = os.fsencode(folder) + b"/"
    found: list[bytes] = []
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(root + prefix) as entries:
                for entry in entries:
                    found.append(prefix + entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(prefix + entry.name + b"/")
        except OSError:
            continue
    return frozenset(found)


def left_behind(place: VerifyFolders, placed: frozenset[bytes], template: Template) -> tuple[str, ...]:
    """What verify left in its tree or its TMPDIR: the topmost new paths, sorted, those in TMPDIR as `$TMPDIR/NAME`.

    `placed` is what the tree held before. Caches of Python and pytest do not count, nor what the .gitignore files of
    the task's source name.
    """
    new = {path for path in names_below(place.repo) - placed if not _is_cache(path)}
    temporary = [name for name in os.listdir(os.fsencode(place.tmp)) if not name.startswith(_TMP_CACHE)]
    new -= _ignored(new, placed, place.repo, template)
    top = [path for path in new if path.rpartition(b"/")[0] not in new]
    shown = [path.decode("utf-8", "backslashreplace") for path in sorted(top)]
    return (*shown, *(f"$TMPDIR/{name.decode('utf-8', 'backslashreplace')}" for name in sorted(temporary)))


def _is_cache(path: bytes) -> bool:
    return path.endswith(b".pyc") or not _CACHES.isdisjoint(path.split(b"/"))


def _ignored(new: set[bytes], placed: frozenset[bytes], repo: Path, template: Template) -> set[bytes]:
    """Those of the new paths that the source's .gitignore files name, or that hold nothing else."""
    asks = any(file.path.rpartition(b"/")[2] == b".gitignore" for file in template.tree.files)
    if not new or not asks:
        return set()
    folders = {path.rpartition(b"/")[0] for path in new} - placed
    leaves = new - folders
    # patterns such as `logs/` speak of folders, and the asking tree has none of the new ones
    asked = {_asked(path, is_folder=(repo / os.fsdecode(path)).is_dir()): path for path in leaves}
    try:
        named = {asked[path] for path in _named_by_gitignore(asked, template)}
    except (GitFailed, EnvironmentUnavailable):
        return set()
    kept = {above for path in leaves - named for above in (path, *_above(path))}
    return new - kept


def _asked(path: bytes, *, is_folder: bool) -> bytes:
    # the leading `./` keeps git from reading `:(...)` in a name
    return b"./" + path + (b"/." if is_folder else b"")


def _named_by_gitignore(paths: Iterable[bytes], template: Template) -> set[bytes]:
    tree = Path(os.fsdecode(template.tree.root))
    own = template.folder / "ask.git"
    if not own.exists():
        git(["init", "--quiet", "--bare", "--template=", str(own)], cwd=tree)
    answer = git(
        ["-c", "core.bare=false", "check-ignore", "-z", "--stdin", "--no-index"],
        cwd=tree,
        git_dir=own,
        extra={"GIT_WORK_TREE": str(tree)},
        stdin=b"".join(path + b"\0" for path in paths),
        allowed=frozenset({0, 1}),
    )
    return set(answer.split(b"\0")[:-1])


def _above(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path
