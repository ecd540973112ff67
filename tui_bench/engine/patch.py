"""What an agent changed, against the source the tool recorded.

The authoritative answer is a comparison of two manifests: no repository of the agent's is consulted, so staging,
commits, a deleted `.git` or a nested repository hide nothing. A diff for people is made by git in a repository of the
tool's own out of objects written here; none of git's commands ever works in the agent's tree.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tui_bench.engine import diff
from tui_bench.engine.template import CHANGE_IGNORE, Base
from tui_bench.study import digest
from tui_bench.study.digest import Entry, Manifest, manifest

EMPTY = "empty"
DIFF_FILE = "patch.diff"
_PATH_MAX = 4096
Redact = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Change:
    """An agent's change: files and links that were added, removed or altered, sorted by path.

    Empty folders, file times, permission bits other than the executable one, caches, `.git` folders and `usage.json`
    at the top are no part of it.
    """

    repo: Path
    """The tree the changed files are read from."""
    paths: tuple[digest.Change, ...]
    patch_sha256: str | None
    """sha256 hex over the length-prefixed change, `empty`, or None with `error`."""
    error: str | None = None
    diff: Path | None = None
    """The change as a patch that git applies; None where it is empty, or could not be made (`diff_error`)."""
    diff_error: str | None = None
    left_out: tuple[str, ...] = ()
    """What is in the tree but not in the diff, each with its reason."""
    nested: tuple[str, ...] = ()
    """Folders in which the agent keeps repositories; their files count as any other."""


def collect(repo: Path, base: Base, out: Path, *, redact: Redact | None = None) -> Change:
    """Compare a workspace with its base and write `patch.diff` to the folder `out`.

    All processes that could write to `repo` have ended. A workspace that is gone, or no folder any more, counts as
    emptied. `redact` replaces secret values in the diff. Raises OSError where `out` cannot be written or the tree
    moves while it is read.
    """
    final = _final_manifest(repo)
    compared = digest.changes(base.manifest, final)
    paths = tuple(change for change in compared if _counts(change.before) or _counts(change.after))
    special = tuple(f"{entry.name} (no regular file)" for entry in final if entry.kind == "o")
    nested = tuple(_nested(repo, final))
    if final.unreadable:
        reason = f"{len(final.unreadable)} paths cannot be read, such as {final.unreadable[0].name}"
        return Change(repo, paths, None, reason, nested=nested)
    if not paths:
        return Change(repo, (), EMPTY, left_out=special, nested=nested)
    written: Path | None = out / DIFF_FILE
    error: str | None = None
    left_out: tuple[str, ...] = ()
    if base.repository is None:
        written, error = None, "the task has no base repository"
    else:
        try:
            left_out = diff.write(repo, paths, base.repository, out / DIFF_FILE, redact)
        except diff.DiffFailed as failure:
            written, error = None, str(failure)
    return Change(repo, paths, _digest(paths), None, written, error, (*special, *left_out), nested)


def _counts(entry: Entry | None) -> bool:
    return entry is not None and entry.kind in "fl"


def _final_manifest(repo: Path) -> Manifest:
    try:
        if not stat.S_ISDIR(repo.lstat().st_mode):
            return Manifest(())
    except FileNotFoundError:
        return Manifest(())
    final = manifest(repo, CHANGE_IGNORE)
    if not final.unreadable:
        return final
    for entry in final.unreadable:
        _unlock(os.path.join(os.fsencode(repo), entry.path))
    return manifest(repo, CHANGE_IGNORE)


def _unlock(top: bytes) -> None:
    """Give the owner the permissions to read a path and everything below it, as far as the system allows."""
    waiting = [top]
    while waiting:
        path = waiting.pop()
        try:
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
                waiting += [os.path.join(path, name) for name in os.listdir(path)]
            elif stat.S_ISREG(status.st_mode):
                os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRUSR)
        except OSError:
            continue  # what stays unreadable is named in the change


def _nested(repo: Path, final: Manifest) -> Iterable[str]:
    for entry in final:
        place = os.path.join(os.fsencode(repo), entry.path, b".git")
        if entry.kind == "d" and len(place) < _PATH_MAX and os.path.lexists(place):
            yield entry.name


def _digest(paths: Iterable[digest.Change]) -> str:
    """The end state of every changed path; what was there before is the task's own digest."""
    total = hashlib.sha256()
    for change in paths:
        after = change.after if _counts(change.after) else None
        total.update(b"%d:%s" % (len(change.path), change.path))
        if after is None:
            total.update(b"-;")
        else:
            head = (after.kind.encode(), after.executable, after.size, len(after.content), after.content)
            total.update(b"%s%d,%d,%d:%s;" % head)
    return total.hexdigest()
