"""Applies a patch file to a tree that is no repository."""

from __future__ import annotations

from pathlib import Path

from tui_bench.engine.git import GitFailed, git
from tui_bench.errors import EnvironmentUnavailable


def apply(folder: Path, patch: Path) -> str | None:
    """Apply a patch in git's format, all of it or nothing; None, or why it does not apply in one line.

    A repository further up is never looked at. A patch without any content changes nothing.
    """
    try:
        if not patch.read_bytes().strip():
            return None
        git(
            ["apply", "--whitespace=nowarn", str(patch.resolve())],
            cwd=folder,
            extra={"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)},
        )
    except (GitFailed, EnvironmentUnavailable) as error:
        return f"{patch.name} does not apply: {error}"
    except OSError as error:
        return f"{patch} cannot be read: {error.strerror}"
    return None
