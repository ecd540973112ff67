"""Checking a ledger after the fact: is it whole, in order, unchanged, and are its files there.

The chain is tamper-evident, not tamper-proof: rows cut off the end, or a chain computed anew, show only against a head
that was kept elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tui_bench.ledger.chain import Chain
from tui_bench.ledger.lines import Line, Link, RawLine, link_of, parsed
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import GENESIS, AnyRow, AttemptRow, EventRow, FileRef

FindingKind = Literal[
    "damaged", "chain", "mixed", "duplicate", "unknown_kind", "newer", "unfinished", "head", "missing_file",
    "changed_file", "foreign_path", "empty",
]
LISTED = 50
"""Findings of one kind that are listed; all are counted."""
_HARMLESS: frozenset[FindingKind] = frozenset({"unfinished", "unknown_kind"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a ledger, in one sentence. `line` is 1-based, None where it concerns no single line."""

    kind: FindingKind
    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `head` is the sha of the last row, 64 zeros when there is none."""

    rows: int
    head: str
    files: int
    """Files that were compared."""
    counts: dict[FindingKind, int]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Nothing found but what is normal in a ledger that is still being written."""
        return not set(self.counts) - _HARMLESS


class _Check:
    """State of one pass. Cells are kept as hashes: a million of them take some 60 MB."""

    def __init__(self, head: str | None, files_root: Path | None) -> None:
        self.chain = Chain()
        self.counts: Counter[FindingKind] = Counter()
        self.findings: list[Finding] = []
        self.rows = self.files = 0
        self.head_seen = head in (None, GENESIS)
        self._head = head
        self._root = files_root
        self._run_id: str | None = None
        self._cells: set[int] = set()
        self._looked_at: set[int] = set()

    def find(self, kind: FindingKind, line: int | None, message: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= LISTED:
            self.findings.append(Finding(kind, line, message))

    def take(self, raw: RawLine) -> None:
        line = parsed(raw)
        link = self._link(line, raw)
        if link is None or raw.data is None:
            self.chain.skip()
            self.find("damaged", raw.number, line.fault.message if line.fault else "not a row")
            return
        self.rows += 1
        for message in self.chain.add(link, raw.data):
            self.find("chain", raw.number, message)
        self.head_seen = self.head_seen or link.sha == self._head
        self._check_run(link, raw.number)
        if line.row is not None:
            self._check_row(line.row, raw.number)

    def _link(self, line: Line, raw: RawLine) -> Link | AnyRow | None:
        if line.row is not None:
            return line.row
        if line.fault is None or line.fault.kind != "unknown_kind" or raw.data is None:
            return None
        self.find("unknown_kind", raw.number, line.fault.message)
        return link_of(raw.data)

    def _check_run(self, link: Link | AnyRow, number: int) -> None:
        if self._run_id is None:
            self._run_id = link.run_id
        elif link.run_id != self._run_id:
            self.find("mixed", number, f"is of run {link.run_id[:80]!r}, the first row of {self._run_id[:80]!r}")

    def _check_row(self, row: AnyRow, number: int) -> None:
        if isinstance(row, AttemptRow):
            if row.role == "planned" and row.replaces is None:
                self._check_cell(row, number)
            self._check_files(row.files, number)
        elif isinstance(row, EventRow) and row.files:
            self._check_files(row.files, number)

    def _check_cell(self, row: AttemptRow, number: int) -> None:
        cell = hash((row.run_id, row.task, row.env, row.agent, row.attempt))
        if cell in self._cells:
            agent = f", agent {row.agent!r}" if row.agent else ""
            self.find(
                "duplicate", number,
                f"a second planned row for task {row.task!r}, environment {row.env!r}{agent}, attempt {row.attempt}, "
                "and it replaces nothing",
            )
        self._cells.add(cell)

    def _check_files(self, files: dict[str, FileRef], number: int) -> None:
        if self._root is None:
            return
        for ref in files.values():
            key = hash((ref.path, ref.sha256))
            if key not in self._looked_at:
                self._looked_at.add(key)
                self.files += 1
                if found := _file_fault(self._root, ref):
                    self.find(found[0], number, found[1])


def check(path: Path | str, head: str | None = None, files_root: Path | None = None) -> Report:
    """Check the ledger at `path`; with `files_root` also the files its rows name.

    `head` is a sha noted earlier, accepted when it is the sha of any row. Raises LedgerError when the file cannot be
    read, never on what it holds.
    """
    state = _Check(head.strip().lower() if head else None, files_root)
    lines = scan(path)
    for raw in lines.raw():
        state.take(raw)
    if lines.unfinished:
        state.find(
            "unfinished", None,
            f"{lines.unfinished} bytes after the last complete row: one is being written, or a crash cut it off",
        )
    if state.rows == 0:
        state.find("empty", None, "holds no row")
    if not state.head_seen:
        state.find("head", None, "no row has the given head: rows were cut off, or the chain was computed anew")
    return Report(state.rows, state.chain.head, state.files, dict(state.counts), tuple(state.findings))


def _file_fault(root: Path, ref: FileRef) -> tuple[FindingKind, str] | None:
    shown = repr(ref.path[:200])
    parts = PurePosixPath(ref.path).parts
    if not parts or ref.path.startswith("/") or ".." in parts or "\0" in ref.path:
        return "foreign_path", f"names a file outside the run's folder: {shown}"
    try:
        size, digest = _measure(root, parts)
    except OSError as error:
        return "missing_file", f"{shown}: {error.strerror or error}"
    if digest is None:
        return "foreign_path", f"{shown}: not a regular file"
    if digest != ref.sha256:
        return "changed_file", f"{shown}: changed after the row was written ({size} bytes, {ref.bytes} then)"
    return None


def _measure(root: Path, parts: tuple[str, ...]) -> tuple[int, str | None]:
    """Size and sha256 of a file below `root`; no symbolic link is followed. None for what is no regular file."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in parts[:-1]:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        return 0, None
    with os.fdopen(descriptor, "rb") as file:
        return found.st_size, hashlib.file_digest(file, "sha256").hexdigest()
