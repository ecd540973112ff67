"""Globs over paths of a tree, as task.yaml and controls.yaml write them.

A pattern is anchored at the tree's top. `*` and `?` stop at `/`, `**` does not, `[...]` is a set. A pattern that
names a folder covers everything below it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_WILD = re.compile(r"[*?\[]")
_REPO = "repo/"


class Globs:
    """A set of patterns. Those of controls.yaml may begin with `repo/`, as its paths start at the task folder."""

    def __init__(self, patterns: Iterable[str], *, from_task_folder: bool = False) -> None:
        kept = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
        if from_task_folder:
            kept += [pattern.removeprefix(_REPO) for pattern in kept if pattern.startswith(_REPO)]
            kept += ["**" for pattern in kept if pattern == _REPO.rstrip("/")]
        self._literal = frozenset(pattern for pattern in kept if not _WILD.search(pattern))
        sources = [f"(?:{_translated(pattern)})(?:/.*)?" for pattern in kept]
        self._regex = re.compile("|".join(sources), re.DOTALL) if sources else None

    def match(self, path: bytes) -> bool:
        """Whether a path, relative to the tree, or a folder above it is covered."""
        return self._regex is not None and self._regex.fullmatch(os.fsdecode(path)) is not None

    def names(self, path: bytes) -> bool:
        """Whether a pattern without wildcards is exactly this path."""
        return os.fsdecode(path) in self._literal


def _translated(pattern: str) -> str:
    out, at = [], 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            out.append("(?:[^/]+/)*")
            at += 3
        elif pattern.startswith("**", at):
            out.append(".*")
            at += 2
        elif (text := _set(pattern, at)) is not None:
            out.append(text[0])
            at = text[1]
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(pattern[at], re.escape(pattern[at])))
            at += 1
    return "".join(out)


def _set(pattern: str, at: int) -> tuple[str, int] | None:
    """A `[...]` set at this place as a regular expression, and where it ends; None where there is none."""
    if pattern[at] != "[":
        return None
    end = pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] == "!"))
    if end < 0:
        return None
    body = pattern[at + 1 : end]
    negated = body.startswith("!")
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negated else body)
    text = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(text)
    except re.error:  # such as [z-a]: the characters then stand for themselves
        return None
    return (text, end + 1)
