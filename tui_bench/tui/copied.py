"""The text that a copy menu's answer means."""

from __future__ import annotations

from typing import Literal

from tui_bench.analysis.task_attempts import TaskAttempt
from tui_bench.errors import UsageError
from tui_bench.ledger.reader import line_at
from tui_bench.ledger.rows import AttemptRow
from tui_bench.ledger.runs import Layout
from tui_bench.tui import safe
from tui_bench.tui.documents import Document, file_of
from tui_bench.tui.log_file import LogFile
from tui_bench.tui.resource_lines import command_line

MOST = 256 * 1024
"""Bytes; terminals take no more from a program, most take less."""


def copied(
    what: Literal["row", "path", "command", "diff"],
    layout: Layout,
    attempt: TaskAttempt,
    row: AttemptRow | None,
    document: Document | None,
) -> str:
    """Row: its line in the ledger. Path: that of the text that is open. Raises TuiBenchError where there is none."""
    if what == "row":
        if attempt.offset is None:
            raise UsageError("no row yet: the attempt is not done")
        return line_at(layout.ledger, attempt.offset).decode("utf-8", "replace")
    if what == "path":
        path = document.source.path if document is not None else None
        return str(path or layout.ledger)
    if row is None:
        raise UsageError("nothing to copy yet: the attempt is not done")
    return _command(row.verify_cmd) if what == "command" else _diff(layout, row)


def _command(command: list[str] | str) -> str:
    """Made to be pasted into a shell, so nothing invisible may stand in it."""
    return "\n".join(safe.text(line) for line in command_line(command).splitlines())


def _diff(layout: Layout, row: AttemptRow) -> str:
    path = file_of(layout, row, "patch")
    status = LogFile(path).status() if path is not None else None
    if path is None or status is None:
        raise UsageError("this attempt has no diff")
    if status.size > MOST:
        raise UsageError(f"the diff has {status.size // 1000} kB, too much for a clipboard; it is {path}")
    return LogFile(path).chunk(0, MOST).decode("utf-8", "replace")
