"""How this tool calls git: with a repository of its own and no settings of anybody else.

No command here runs in, or reads the configuration of, a repository that an agent or a task made: hooks, filters,
external diff programs and monitors named there never start.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tui_bench.errors import EnvironmentUnavailable

_BASE = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": "/dev/null",
    "XDG_CONFIG_HOME": "/dev/null",
    "LC_ALL": "C",
    "TZ": "UTC",
}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class GitFailed(Exception):
    """git ended with an error; the text is its own words on one line."""


def git_program() -> str:
    """Absolute path of git. Raises EnvironmentUnavailable where it is not installed."""
    found = shutil.which("git")
    if found is None:
        raise EnvironmentUnavailable(
            "git is not on PATH: workspaces of agents, reference patches and diffs are made with it; install git"
        )
    return found


def variables(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git command."""
    return {"PATH": os.environ.get("PATH", os.defpath), **_BASE, **(extra or {})}


def git(
    arguments: Sequence[str],
    *,
    cwd: Path,
    git_dir: Path | None = None,
    extra: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    stdout: IO[bytes] | None = None,
    allowed: frozenset[int] = frozenset({0}),
) -> bytes:
    """Run git to its end and give its output (empty where it went to `stdout`). Raises GitFailed."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    where = {"GIT_DIR": str(git_dir)} if git_dir is not None else {}
    done = subprocess.run(
        [git_program(), *settings, *arguments],
        cwd=cwd,
        env=variables({**where, **(extra or {})}),
        input=stdin,
        stdout=stdout if stdout is not None else subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in allowed:
        raise GitFailed(words(done.stderr) or f"git {arguments[0]} ended with {done.returncode}")
    return done.stdout or b""


def words(raw: bytes) -> str:
    """A program's message on one line."""
    return " ".join(raw.decode("utf-8", "backslashreplace").split())
