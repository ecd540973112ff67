"""Rows for what a killed runner left unfinished: no attempt that was started disappears."""

from __future__ import annotations

from collections.abc import Iterator

from tui_bench.engine.context import RunContext
from tui_bench.engine.remaining import History
from tui_bench.environments.base import CAPABILITIES, MEANS_NONE
from tui_bench.ledger.file import Torn
from tui_bench.ledger.rows import AttemptRow, EventRow, PhasesMs, Resources


def lost_rows(context: RunContext, history: History) -> Iterator[AttemptRow]:
    """One void row, `interrupted`, for each `started` event without an attempt row, in their order."""
    for started in list(history.open.values()):
        if started.task is None or started.task not in context.digests or started.attempt_id is None:
            continue
        digests = context.digests[started.task]
        task = context.task(started.task)
        environment = context.environments.get(started.env or "")
        yield AttemptRow(
            run_id=context.run_id,
            task=started.task,
            env=started.env,
            attempt=started.number,
            attempt_id=started.attempt_id,
            agent=started.agent,
            mode=context.mode,
            role=started.role or "planned",
            replaces=started.replaces,
            env_sha=environment.env_sha if environment else None,
            passed=None,
            exit_code=None,
            signal=None,
            void="interrupted",
            void_causes=["interrupted"],
            void_detail="the runner ended before this attempt did",
            wall_ms=None,
            phases_ms=PhasesMs(),
            verify_cmd=task.verify if isinstance(task.verify, str) else list(task.verify),
            verify_runs=[],
            verify_stdout_tail=None,
            verify_stderr_tail=None,
            agent_exit=None,
            agent_signal=None,
            capped=False,
            tokens_in=None,
            tokens_out=None,
            tokens_cached=None,
            usage_source=None,
            patch_sha256=None,
            dropped=[],
            task_sha=digests.task_sha,
            oracle_sha=digests.oracle_sha,
            prompt_sha=digests.prompt_sha,
            resources=Resources(),
            host_load=None,
            enforced=dict.fromkeys(CAPABILITIES, MEANS_NONE),
            order_index=started.order_index,
            files={},
        )


def recovered_event(run_id: str, torn: Torn) -> EventRow:
    """What was set aside from behind the last complete row."""
    return EventRow(
        run_id=run_id,
        event="recovered",
        reason=f"an unfinished line {torn.line} was set aside",
        detail={"offset": torn.offset, "bytes": torn.length, "sha256": torn.sha256, "line": torn.line},
    )
