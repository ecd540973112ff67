"""A repository that holds one commit of a tree and nothing else.

Author, date and message are fixed, so the same tree gives the same commit id on every machine and in every run.
"""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tui_bench.engine.copier import TreeListing
from tui_bench.engine.git import GitFailed, git, git_program, variables, words
from tui_bench.errors import WorkspaceError

BRANCH = "main"
_HEADER = (
    b"commit refs/heads/main\n"
    b"author tui_bench <tui_bench@localhost> 946684800 +0000\n"
    b"committer tui_bench <tui_bench@localhost> 946684800 +0000\n"
    b"data 12\nTask source\n\n"
)
_CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
    "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)
Leaf = tuple[bytes, bytes]
"""Mode as git writes it (`100644`, `40000`) and the object's id, 20 bytes."""


@dataclass(frozen=True, slots=True)
class BaseRepository:
    """A one-commit repository: its git folder, ids in hex, and the content of each of its trees by path."""

    folder: Path
    commit: str
    tree: str
    trees: Mapping[bytes, Mapping[bytes, Leaf]]
    """Folder path (empty for the top) -> name -> leaf."""


def create(tree: Path, listing: TreeListing, folder: Path) -> BaseRepository:
    """Commit a listed tree into a new repository. Raises WorkspaceError with git's words, OSError."""
    init = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1", f"--initial-branch={BRANCH}"]
    try:
        git([*init, str(folder)], cwd=tree)
        _import(tree, listing, folder)
        git(["read-tree", BRANCH], cwd=tree, git_dir=folder)
        commit, top = git(["rev-parse", BRANCH, f"{BRANCH}^{{tree}}"], cwd=tree, git_dir=folder).decode().split()
        listed = git(["ls-tree", "-r", "-t", "-z", BRANCH], cwd=tree, git_dir=folder)
    except GitFailed as error:
        raise WorkspaceError(f"no repository can be made of {tree}: {error}") from None
    (folder / "config").write_text(_CONFIG, "ascii")
    return BaseRepository(folder, commit, top, _trees(listed))


def _import(tree: Path, listing: TreeListing, folder: Path) -> None:
    # one pack instead of an object per file: a workspace's .git is copied in a handful of files
    settings = ["-c", "fastimport.unpackLimit=0", "-c", "pack.threads=1"]
    command = [git_program(), *settings, "fast-import", "--quiet", "--done"]
    process = subprocess.Popen(
        command, cwd=tree, env=variables({"GIT_DIR": str(folder)}), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            _send(process.stdin, tree, listing)
            process.stdin.close()
        except BrokenPipeError:
            pass  # git ended early; its message says why
        message = words(process.stderr.read())
    if process.returncode != 0:
        raise GitFailed(message)


def _send(stream: IO[bytes], tree: Path, listing: TreeListing) -> None:
    stream.write(_HEADER)
    for file in listing.files:
        mode = b"100755" if file.mode & 0o100 else b"100644"
        stream.write(b"M %s inline %s\ndata %d\n" % (mode, _quoted(file.path), file.size))
        for chunk in _content(tree, file.path, file.size):
            stream.write(chunk)
        stream.write(b"\n")
    for path, target in listing.links:
        stream.write(b"M 120000 inline %s\ndata %d\n%s\n" % (_quoted(path), len(target), target))
    stream.write(b"done\n")


def _content(tree: Path, path: bytes, size: int) -> Iterator[bytes]:
    left = size
    with open(bytes(tree) + b"/" + path, "rb") as file:
        while left and (chunk := file.read(min(left, 1 << 20))):
            left -= len(chunk)
            yield chunk
    if left:
        raise OSError(errno.ESTALE, "became shorter while it was read", path.decode("utf-8", "backslashreplace"))


def _quoted(path: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes((byte,)) for byte in path) + b'"'


def _trees(listed: bytes) -> dict[bytes, dict[bytes, Leaf]]:
    trees: dict[bytes, dict[bytes, Leaf]] = {b"": {}}
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, kind, name_hex = facts.split()
        folder, _, name = path.rpartition(b"/")
        trees[folder][name] = (mode.lstrip(b"0"), bytes.fromhex(name_hex.decode("ascii")))
        if kind == b"tree":
            trees[path] = {}
    return trees
