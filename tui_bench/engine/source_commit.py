"""Export of one commit of a task's own repository.

Only its object store is read: its settings, hooks and refs are not, and a repository further up is never looked for.
"""

from __future__ import annotations

import re
from pathlib import Path

from tui_bench.engine.git import GitFailed, git
from tui_bench.errors import WorkspaceError

_COMMIT = re.compile(r"[0-9a-f]{4,64}")


def has_history(repo: Path) -> bool:
    """Whether the folder itself is a checkout; one that merely lies in a checkout is not."""
    return (repo / ".git").exists()


def export(repo: Path, commit: str, destination: Path, *, scratch: Path) -> None:
    """Write the files of a commit to a new folder. `scratch`: an existing private folder.

    Raises WorkspaceError where the commit is not in the repository, OSError.
    """
    if not _COMMIT.fullmatch(commit):
        raise WorkspaceError(f"base_commit {commit!r} of {repo} is not a commit id: write the hexadecimal id")
    own = scratch / "export.git"
    destination.mkdir()
    store = {"GIT_OBJECT_DIRECTORY": str(_objects(repo))}
    try:
        git(["init", "--quiet", "--bare", "--template=", str(own)], cwd=scratch)
        git(["read-tree", f"{commit}^{{commit}}"], cwd=scratch, git_dir=own, extra=store)
        git(
            ["-c", "core.bare=false", "checkout-index", "--all", "--quiet", f"--prefix={destination}/"],
            cwd=destination,
            git_dir=own,
            extra={**store, "GIT_WORK_TREE": str(destination)},
        )
    except GitFailed as error:
        raise WorkspaceError(f"base_commit {commit} cannot be exported from {repo}: {error}") from None


def _objects(repo: Path) -> Path:
    """Object store of a checkout, also where `.git` is a file of a worktree or submodule."""
    place = repo / ".git"
    if place.is_file():
        text = place.read_text("utf-8", "surrogateescape").strip()
        place = (repo / text.removeprefix("gitdir:").strip()).resolve()
    common = place / "commondir"
    if common.is_file():
        place = (place / common.read_text("utf-8", "surrogateescape").strip()).resolve()
    return (place / "objects").resolve()
