"""A task's source, exported once per run, from which every workspace and every verify tree is copied.

What agents get beside it is a repository with exactly one commit, the same id each time: no history, no other
object, ref, reflog, hook or remote. A copy notices when a file of the export changed after it was listed.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from tui_bench.engine import one_commit, source_commit
from tui_bench.engine.copier import TreeListing, copy_tree, list_tree
from tui_bench.engine.git import git_program
from tui_bench.engine.one_commit import BaseRepository
from tui_bench.engine.tree_size import TreeSize, tree_size
from tui_bench.engine.workspace import RunRoot
from tui_bench.errors import EnvironmentUnavailable, WorkspaceError
from tui_bench.study.digest import Ignore, Manifest, manifest
from tui_bench.study.model import Task

LEFT_OUT = frozenset({b".git", b"__pycache__", b".pytest_cache"})
"""Histories and caches at any depth: in no template, no patch and no verify tree."""
USAGE_FILE = b"usage.json"
CHANGE_IGNORE = Ignore(names=LEFT_OUT, paths=frozenset({USAGE_FILE}))
"""What two manifests of a workspace are compared without: LEFT_OUT, and the agent's usage report."""


@dataclass(frozen=True, slots=True)
class Base:
    """What patches are taken against: the export's manifest, and its commit where there is one."""

    manifest: Manifest
    repository: BaseRepository | None


@dataclass(frozen=True, slots=True)
class Template:
    """A task ready to be copied."""

    folder: Path
    tree: TreeListing
    """The source, without history and caches."""
    oracle: TreeListing | None
    """The hidden folder as it was when the run began; None where the test lies in the source."""
    base: Base
    git: TreeListing | None
    """The one-commit repository, for a workspace's `.git`."""
    size: TreeSize
    """Of the source: what every copy of it costs."""
    skipped: tuple[str, ...] = ()
    """FIFOs, sockets and devices of the source, which no copy holds."""

    def require_git(self) -> TreeListing:
        if self.git is None:
            raise EnvironmentUnavailable("the task's template was made without a repository")
        return self.git


def export_source(task: Task, tree: Path, *, scratch: Path) -> tuple[tuple[bytes, str], ...]:
    """Write a task's source to the new folder `tree`; FIFOs, sockets and devices that were left out, with their kind.

    `scratch`: an existing private folder. Raises WorkspaceError where the commit is not there, OSError.
    """
    if task.base_commit is not None and source_commit.has_history(task.repo):
        source_commit.export(task.repo, task.base_commit, tree, scratch=scratch)
        return ()
    source = list_tree(task.repo, ignore=LEFT_OUT)
    copy_tree(source, tree)
    return source.skipped


def build_template(task: Task, run: RunRoot, *, with_git: bool) -> Template:
    """Export a task below a run's folder.

    Raises EnvironmentUnavailable where git is needed and missing, WorkspaceError where the source cannot be exported.
    """
    if with_git:
        git_program()
    folder = run.path / f"template-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700)
    tree, oracle = folder / "tree", folder / "oracle"
    try:
        skipped = export_source(task, tree, scratch=folder)
        listing = list_tree(tree, ignore=LEFT_OUT)
        base_manifest = manifest(tree, CHANGE_IGNORE)
        hidden = None
        if task.oracle is not None:
            copy_tree(list_tree(task.oracle, ignore={b"__pycache__"}), oracle)
            hidden = list_tree(oracle)
        repository = one_commit.create(tree, listing, folder / "git") if with_git else None
        git_listing = list_tree(repository.folder) if repository is not None else None
    except OSError as error:
        place = error.filename or task.folder
        raise WorkspaceError(f"task {task.id} cannot be copied: {place}: {error.strerror or error}") from None
    names = tuple(f"{path.decode('utf-8', 'backslashreplace')} ({kind})" for path, kind in skipped)
    base = Base(base_manifest, repository)
    return Template(folder, listing, hidden, base, git_listing, tree_size(tree), names)
