"""The texts of one attempt that can be read: its diff, its logs, the prompt, its row.

Paths come out of a ledger that may be somebody else's, so only files below the run's own folder are ever named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tui_bench.analysis.state import RunState
from tui_bench.analysis.task_attempts import TaskAttempt
from tui_bench.errors import LedgerError
from tui_bench.ledger.reader import line_at
from tui_bench.ledger.rows import AttemptRow
from tui_bench.ledger.runs import Layout
from tui_bench.tui.log_choice import inside, row_note
from tui_bench.tui.log_file import MemoryText
from tui_bench.tui.widgets.log_tail import LogSource

REPLAYS_MOST = 20
DIFF, AGENT, VERIFY, PROMPT, ROW = "diff", "agent", "verify", "prompt", "row"
TITLES = {DIFF: "Diff", AGENT: "Agent log", VERIFY: "Verify log", PROMPT: "Prompt", ROW: "Row"}


@dataclass(frozen=True, slots=True)
class Document:
    """One text. `name` stays the same from attempt to attempt, so a reader who moves on stays on it."""

    name: str
    source: LogSource

    @property
    def title(self) -> str:
        """What a reader reads on its tab."""
        return TITLES.get(self.name) or f"Replay {self.name.removeprefix(VERIFY)}"


def documents(state: RunState, layout: Layout, attempt: TaskAttempt, row: AttemptRow | None) -> list[Document]:
    """The texts of an attempt in the order of their tabs. `row` is None until the attempt is done and its row read."""
    folder = inside(layout, attempt.running.folder) if attempt.running is not None else None
    found: list[Document] = []
    if state.subject != "clean":
        found.append(Document(DIFF, _diff(state, layout, attempt, row)))
    if state.subject == "agent":
        found.append(Document(AGENT, _log(layout, attempt, row, "agent_log", folder, "agent.log")))
    verify = _log(layout, attempt, row, "verify_log", folder, "verify.log")
    found += [Document(VERIFY, verify), *_replays(verify, row)]
    found.append(Document(PROMPT, _prompt(state, layout, attempt.key[0])))
    return [*found, Document(ROW, _row(layout, attempt))]


def opening(found: list[Document], attempt: TaskAttempt, row: AttemptRow | None) -> str:
    """The text that says most: what is being written; the change where there is one; else why it is void or failed."""
    if attempt.running is not None:
        late = attempt.running.phase in ("verify", "replays")
        return VERIFY if late or not any(one.name == AGENT for one in found) else AGENT
    if found[0].name == DIFF and attempt.offset is not None and (row is None or "patch" in row.files):
        return DIFF
    return VERIFY


def file_of(layout: Layout, row: AttemptRow | None, name: str) -> Path | None:
    """A file the row names (`patch`, `agent_log`, `verify_log`), inside the run's folder."""
    named = row.files.get(name) if row is not None else None
    return inside(layout, named.path) if named is not None else None


def _diff(state: RunState, layout: Layout, attempt: TaskAttempt, row: AttemptRow | None) -> LogSource:
    path = file_of(layout, row, "patch")
    if path is not None:
        return LogSource(path, False, (f"{path.name} is not there any more",), from_start=True, diff=True)
    return LogSource(None, False, (_no_diff(state, attempt, row),), from_start=True)


def _no_diff(state: RunState, attempt: TaskAttempt, row: AttemptRow | None) -> str:
    if row is None:
        return _not_done(attempt)
    if row.patch_error:
        return f"no patch: {row.patch_error}"
    if row.patch_sha256 == "empty":
        return "the agent changed nothing"
    return "no diff was kept" if state.subject == "agent" else f"no agent ran: {state.subject}"


def _not_done(attempt: TaskAttempt) -> str:
    if attempt.running is not None:
        return "the attempt is still running"
    return "this attempt has not begun" if attempt.offset is None else "reading the row"


def _log(
    layout: Layout, attempt: TaskAttempt, row: AttemptRow | None, name: str, folder: Path | None, file: str
) -> LogSource:
    if attempt.running is not None:
        note = () if folder is not None else ("running; the ledger names no log folder",)
        return LogSource(folder / file if folder is not None else None, True, note)
    path = file_of(layout, row, name)
    return LogSource(path, False, row_note(row) if row is not None else (_not_done(attempt),))


def _replays(verify: LogSource, row: AttemptRow | None) -> list[Document]:
    """Logs of further verify runs of the same tree: they lie beside the first one."""
    if verify.path is None or row is None:
        return []
    folder = verify.path.parent
    numbers = range(1, min(len(row.verify_runs), REPLAYS_MOST + 1))
    paths = {number: folder / f"verify.{number}.log" for number in numbers}
    return [Document(f"{VERIFY}{number}", LogSource(path, False)) for number, path in paths.items() if path.is_file()]


def _prompt(state: RunState, layout: Layout, task: str) -> LogSource:
    row = state.tasks.get(task)
    digest = f"; its sha256 is {row.prompt_sha}" if row is not None and row.prompt_sha else ""
    note = f"the prompt was not kept beside this ledger{digest}"
    return LogSource(layout.prompt(task), False, (note,), from_start=True, prose=True)


def _row(layout: Layout, attempt: TaskAttempt) -> LogSource:
    """The row's own line with its keys in order, one a line. Read anew: it is shown as it stands in the ledger."""
    if attempt.offset is None:
        return LogSource(None, False, (_not_done(attempt),), from_start=True)
    try:
        value = json.loads(line_at(layout.ledger, attempt.offset))
    except (LedgerError, ValueError, RecursionError) as error:
        return LogSource(None, False, (f"the row cannot be read: {error}",), from_start=True)
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return LogSource(None, False, text=MemoryText(text.encode("utf-8", "backslashreplace")), from_start=True)
