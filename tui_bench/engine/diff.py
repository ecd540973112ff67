"""A patch in git's format between a base commit and a list of changed paths.

Blobs and trees are written here as loose objects, byte for byte, into a store that is thrown away; git only compares
two trees. Nothing filters, converts or follows anything on the way.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tui_bench.engine.copier import open_folder
from tui_bench.engine.git import GitFailed, git
from tui_bench.engine.one_commit import BaseRepository, Leaf
from tui_bench.errors import EnvironmentUnavailable
from tui_bench.study.digest import Change, Entry

FILE_LIMIT = 8 * 1024 * 1024
"""Bytes of the largest file a diff holds; larger ones are listed instead."""
TOTAL_LIMIT = 64 * 1024 * 1024
"""Bytes of all changed files together, before and after."""
_PATH_LIMIT = 4000
_BINARY_HEAD = 8000
"""git takes a file with a NUL within so many bytes for binary."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TREE = b"40000"


class DiffFailed(Exception):
    """git could not make the diff; the text is its own words."""


def write(
    repo: Path,
    changes: Iterable[Change],
    base: BaseRepository,
    target: Path,
    redact: Callable[[bytes], bytes] | None = None,
) -> tuple[str, ...]:
    """Write the diff to a new or emptied file; what was left out of it, with reasons. Raises DiffFailed, OSError."""
    with tempfile.TemporaryDirectory(prefix=".objects-", dir=target.parent) as scratch:
        store = _Store(Path(scratch))
        leaves, left_out = _Leaves(repo, store, redact).of(changes)
        top = _new_top(base, leaves, store)
        (store.folder / "info").mkdir()
        (store.folder / "info" / "alternates").write_text(f"{base.folder / 'objects'}\n", "utf-8", "surrogateescape")
        with target.open("wb") as file:
            _diff_trees(base, top, Path(scratch), file)
    if redact is not None:
        raw = target.read_bytes()
        cleaned = redact(raw)
        if cleaned != raw:
            target.write_bytes(cleaned)
    return left_out


def _diff_trees(base: BaseRepository, top: str, scratch: Path, file: object) -> None:
    shape = ["-p", "--binary", "--full-index", "-M", "-l200", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"]
    try:
        git(
            ["diff-tree", "-r", *shape, "--no-ext-diff", "--no-textconv", base.tree, top],
            cwd=scratch,
            git_dir=base.folder,
            extra={"GIT_OBJECT_DIRECTORY": str(scratch)},
            stdout=file,  # type: ignore[arg-type]
        )
    except (GitFailed, EnvironmentUnavailable) as error:
        raise DiffFailed(str(error)) from None


class _Store:
    """A folder of loose objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, kind: bytes, content: bytes) -> bytes:
        """Write an object; its id, 20 bytes."""
        whole = b"%s %d\0%s" % (kind, len(content), content)
        name = hashlib.sha1(whole, usedforsecurity=False)
        place = self.folder / name.hexdigest()[:2] / name.hexdigest()[2:]
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(whole, 1))
        return name.digest()


class _Leaves:
    """Turns changed paths into tree entries, and says which have no place in a diff."""

    def __init__(self, repo: Path, store: _Store, redact: Callable[[bytes], bytes] | None) -> None:
        self._repo = repo
        self._store = store
        self._redact = redact
        self._total = 0

    def of(self, changes: Iterable[Change]) -> tuple[dict[bytes, Leaf | None], tuple[str, ...]]:
        """Path -> new entry, None where it is removed; and what was left out."""
        leaves: dict[bytes, Leaf | None] = {}
        left_out: list[str] = []
        if not self._repo.is_dir() or self._repo.is_symlink():
            return {change.path: None for change in changes}, ()
        with open_folder(self._repo) as folder:
            for change in changes:
                reason = self._reason(change)
                if reason is None:
                    reason = self._add(change, folder, leaves)
                if reason is not None:
                    left_out.append(f"{(change.after or change.before or _NOTHING).name} ({reason})")
        return leaves, tuple(left_out)

    def _reason(self, change: Change) -> str | None:
        """Why a path has no place in the diff, known without reading it."""
        sizes = [entry.size for entry in (change.before, change.after) if entry is not None and entry.kind == "f"]
        if max(sizes, default=0) > FILE_LIMIT:
            return f"larger than {FILE_LIMIT >> 20} MiB"
        if len(change.path) > _PATH_LIMIT:
            return f"path longer than {_PATH_LIMIT} bytes"
        if any(part.lower() == b".git" for part in change.path.split(b"/")):
            return "git takes no such name"
        self._total += sum(sizes)
        return f"all changes together are larger than {TOTAL_LIMIT >> 20} MiB" if self._total > TOTAL_LIMIT else None

    def _add(self, change: Change, folder: int, leaves: dict[bytes, Leaf | None]) -> str | None:
        after = change.after
        if after is None or after.kind not in "fl":
            leaves[change.path] = None
            return None
        if after.kind == "l":
            leaves[change.path] = (b"120000", self._store.add(b"blob", after.content))
            return None
        content = _content(folder, after)
        if self._redact is not None and b"\0" in content[:_BINARY_HEAD] and self._redact(content) != content:
            return "binary file that holds a secret value"
        leaves[change.path] = (b"100755" if after.executable else b"100644", self._store.add(b"blob", content))
        return None


_NOTHING = Entry(b"", "o", 0, 0, b"")


def _content(folder: int, entry: Entry) -> bytes:
    descriptor = os.open(entry.path, _READ, dir_fd=folder)
    with open(descriptor, "rb") as file:
        content = file.read(FILE_LIMIT + 1)
    if hashlib.sha256(content).digest() != entry.content:
        raise DiffFailed(f"{entry.name} changed while it was read")
    return content


def _new_top(base: BaseRepository, leaves: Mapping[bytes, Leaf | None], store: _Store) -> str:
    """Write the trees on the way to every changed path, deepest first; the id of the top one."""
    folders: dict[bytes, dict[bytes, Leaf]] = {}

    def open_up_to(path: bytes) -> None:
        while path not in folders:
            folders[path] = dict(base.trees.get(path, {}))
            path = path.rpartition(b"/")[0]

    open_up_to(b"")
    for path, leaf in leaves.items():
        above, _, name = path.rpartition(b"/")
        open_up_to(above)
        if leaf is None:
            folders[above].pop(name, None)
        else:
            folders[above][name] = leaf
    for path in sorted(folders.keys() - {b""}, key=lambda path: -path.count(b"/")):
        above, _, name = path.rpartition(b"/")
        if folders[path]:
            folders[above][name] = (_TREE, store.add(b"tree", _tree(folders[path])))
        elif folders[above].get(name, (b"", b""))[0] == _TREE:
            del folders[above][name]
    return store.add(b"tree", _tree(folders[b""])).hex()


def _tree(entries: Mapping[bytes, Leaf]) -> bytes:
    # git sorts a folder as if its name ended in `/`
    ordered = sorted(entries.items(), key=lambda item: item[0] + (b"/" if item[1][0] == _TREE else b""))
    return b"".join(b"%s %s\0%s" % (mode, name, identity) for name, (mode, identity) in ordered)
