"""Which files a diff changes, and by how many lines: counted over the whole file, a piece at a time."""

from __future__ import annotations

from dataclasses import dataclass

from tui_bench.tui.log_file import Lines

PIECE = 1024 * 1024
READ_MOST = 64 * 1024 * 1024
FILES_MOST = 1000


@dataclass(slots=True)
class FileChange:
    """One file of a diff. `name` is raw."""

    name: bytes
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class DiffSummary:
    """Files in order. `whole` is False where the diff is too large to be counted to its end."""

    files: tuple[FileChange, ...]
    whole: bool

    @property
    def added(self) -> int:
        return sum(one.added for one in self.files)

    @property
    def removed(self) -> int:
        return sum(one.removed for one in self.files)


def summarize(lines: Lines) -> DiffSummary:
    """Count a diff in git's format. Runs in a thread."""
    files: list[FileChange] = []
    at, held = 0, b""
    while at < READ_MOST:
        piece = lines.chunk(at, PIECE)
        at += len(piece)
        if not piece:
            _count(held, files)
            return DiffSummary(tuple(files[:FILES_MOST]), len(files) <= FILES_MOST)
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            _count(line, files)
    return DiffSummary(tuple(files[:FILES_MOST]), False)


def _count(line: bytes, files: list[FileChange]) -> None:
    if line.startswith(b"diff --git "):
        files.append(FileChange(_name(line)))
    elif files and line.startswith(b"+") and not line.startswith(b"+++ "):
        files[-1].added += 1
    elif files and line.startswith(b"-") and not line.startswith(b"--- "):
        files[-1].removed += 1


def _name(line: bytes) -> bytes:
    """The new name: what follows the last ` b/`, or the whole rest where git has quoted it."""
    rest = line.removeprefix(b"diff --git ")
    return rest.rpartition(b" b/")[2] if b" b/" in rest else rest
