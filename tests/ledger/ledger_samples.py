"""Rows and ledgers for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import AnyRow, AttemptRow, EventRow, FileRef, PhasesMs, Resources
from tui_bench.ledger.writer import LedgerWriter

RUN = "20261129T120000Z-0000"
DIGEST = "ab" * 32


def note(text: str = "", run_id: str = RUN) -> EventRow:
    return EventRow(run_id=run_id, event="note", reason=text)


_ATTEMPT = AttemptRow(
    run_id=RUN, task="t01", env="utc", attempt=0, attempt_id="0" * 16, agent="strong", mode="full", role="planned",
    replaces=None, env_sha=DIGEST, passed=True, exit_code=0, signal=None, void=None, void_causes=[], wall_ms=1200,
    phases_ms=PhasesMs(agent=900, verify=300), verify_cmd=["sh", "test.sh"], verify_runs=[0, 0],
    verify_stdout_tail="ok\n", verify_stderr_tail="", agent_exit=0, agent_signal=None, capped=False, tokens_in=None,
    tokens_out=None, tokens_cached=None, usage_source=None, patch_sha256=DIGEST, dropped=[], task_sha=DIGEST,
    oracle_sha=DIGEST, prompt_sha=DIGEST, resources=Resources(cpu_ms=80), host_load=0.5,
    enforced={"fs": "mountns", "net": "netns"}, order_index=0, files={},
)


def attempt(number: int = 0, **changes: object) -> AttemptRow:
    own = {"attempt": number, "attempt_id": f"{number:016x}", "order_index": number}
    return msgspec.structs.replace(_ATTEMPT, **(own | changes))


def file_ref(path: str, sha256: str, size: int) -> FileRef:
    return FileRef(path=path, sha256=sha256, bytes=size)


def write(path: Path, *rows: AnyRow) -> list[AnyRow]:
    with LedgerWriter.open(path) as writer:
        return [writer.append(row) for row in rows]


def texts(path: Path) -> list[str | None]:
    """The notes of a ledger, in order; fails on any line that is no row."""
    found = []
    for line in scan(path):
        assert line.fault is None, line
        found.append(line.row.reason)
    return found
