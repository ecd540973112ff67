"""One attempt as a state machine: prepare, agent, collect, verify, replays, row.

A `started` event is in the ledger before anything is launched and an `attempt` row after everything is dead, whatever
happens in between. Every phase adds to the findings; `analysis.verdicts` alone makes a verdict of them.
"""

from __future__ import annotations

import contextlib
import errno
import secrets
import shutil
from collections.abc import Iterator
from typing import Any, Literal

from tui_bench.analysis import verdicts
from tui_bench.engine import host
from tui_bench.engine.agent_phase import run_agent
from tui_bench.engine.context import Job, RunContext
from tui_bench.engine.findings import Findings, shortened
from tui_bench.engine.limits import verify_limits
from tui_bench.engine.redact import Redactor
from tui_bench.engine.verify_phase import verify_final_tree
from tui_bench.engine.workspace import AttemptFolders
from tui_bench.environments.base import CAPABILITIES, MEANS_NONE, Slot
from tui_bench.errors import EnvironmentUnavailable, WorkspaceError
from tui_bench.ledger.rows import AttemptRow, EventRow, Phase

StopCause = Literal["interrupted", "operator_stopped"]


class Attempt:
    """One attempt on one job slot. `stop` may be called at any time from the loop's thread."""

    def __init__(self, context: RunContext, job: Job, slot: Slot) -> None:
        self.context = context
        self.job = job
        self.slot = slot
        self.attempt_id = secrets.token_hex(8)
        self.findings = Findings(mode=context.mode)
        self.redactor = Redactor(())
        """Knows the secrets that the agent was given."""
        self.task = context.task(job.planned.task)
        self.agent = context.agent(job.planned.agent)
        self.folder = context.folder(job)

    @property
    def cell(self) -> tuple[str, str, str]:
        """Task, environment and agent."""
        return self.job.planned.cell

    def stop(self, cause: StopCause) -> None:
        """End what runs now; the attempt becomes void with this cause."""
        if self.findings.stopped is None:
            self.findings.stopped = cause
        self.slot.cancel()

    async def run(self) -> AttemptRow:
        """Make the attempt and append its row. Raises LedgerError only."""
        load = host.load_per_core()
        folder = {"folder": self.context.layout.relative(self.folder)}
        self._event("started", order_index=self.job.planned.order_index, detail=folder)
        begun = host.Clocks.read()
        env = self.job.planned.env
        self.findings.env_unavailable = self.context.unavailable.get(env)
        if not self.findings.is_over():
            try:
                await self._phases()
            except OSError as error:
                self._lost_to_the_system(error)
            except (EnvironmentUnavailable, WorkspaceError) as error:
                self.findings.infra = str(error)
        ended = host.Clocks.read()
        self.findings.clock_jump_ms = begun.jump_ms(ended)
        row = self.context.emit(self._row(begun.elapsed_ms(ended), load))
        assert isinstance(row, AttemptRow)
        return row

    async def _phases(self) -> None:
        root = self.context.roots[self.job.planned.env]
        self.folder.mkdir(parents=True, exist_ok=True)
        folders = AttemptFolders(root, self.attempt_id)
        try:
            await run_agent(self, folders)
            if not self.findings.is_over():
                await verify_final_tree(self, folders)
        finally:
            folders.dispose()

    def _lost_to_the_system(self, error: OSError) -> None:
        """The machine, not the attempt: a full disk by its name, anything else as it was said."""
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            self.findings.infra = f"{error.filename or self.folder}: {error.strerror or error}"
            return
        places = (self.context.roots[self.job.planned.env].path, self.context.layout.files)
        fullest = min(places, key=lambda place: shutil.disk_usage(place).free)
        free = shutil.disk_usage(fullest).free // 1024**2
        self.findings.disk_limit = f"{fullest}: {error.strerror} ({free} MB free)"

    @contextlib.contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Name the phase in the ledger and measure it."""
        self._event("phase", phase=name)
        begun = host.Clocks.read()
        try:
            yield
        finally:
            self.findings.phases_ms[name] = begun.elapsed_ms(host.Clocks.read())

    def note(self, reason: str, detail: dict[str, Any]) -> None:
        """Put something on record that no field of the attempt row has a place for."""
        self._event("note", reason=reason, detail=detail)

    def _event(
        self,
        event: Literal["started", "phase", "note"],
        *,
        phase: Phase | None = None,
        order_index: int | None = None,
        reason: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> None:
        one = self.job.planned
        self.context.emit(
            EventRow(
                run_id=self.context.run_id,
                event=event,
                task=one.task,
                env=one.env,
                agent=one.agent or None,
                number=one.attempt,
                role=self.job.role,
                replaces=self.job.replaces,
                attempt_id=self.attempt_id,
                phase=phase,
                order_index=order_index,
                reason=reason,
                detail=detail,
            )
        )

    def _row(self, wall_ms: int, load: float | None) -> AttemptRow:
        one, seen = self.job.planned, self.findings
        digests = self.context.digests[one.task]
        environment = self.context.environments.get(one.env)
        limits = verify_limits(self.task, self.context.study.controls, self.context.declared(one.env))
        within = self.context.clean_within_limit.get((one.task, one.env), self.context.mode != "clean")
        verdict = verdicts.decide(
            seen.observation(self.task, clean_within_limit=within, verify_timeout_s=limits.wall_s)
        )
        return AttemptRow(
            run_id=self.context.run_id,
            task=one.task,
            env=one.env,
            attempt=one.attempt,
            attempt_id=self.attempt_id,
            agent=one.agent or None,
            mode=self.context.mode,
            role=self.job.role,
            replaces=self.job.replaces,
            env_sha=environment.env_sha if environment is not None else None,
            passed=verdict.passed,
            exit_code=verdict.exit_code,
            signal=verdict.signal,
            void=verdict.void,
            void_causes=list(verdict.void_causes),
            void_detail=self._clean(verdict.detail),
            fail_reason=verdict.fail_reason,
            wall_ms=wall_ms,
            phases_ms=seen.phases(),
            verify_cmd=self.task.verify if isinstance(self.task.verify, str) else list(self.task.verify),
            verify_runs=[exit_status(run) for run in seen.verify_runs],
            verify_stdout_tail=self._clean(seen.stdout_tail),
            verify_stderr_tail=self._clean(seen.stderr_tail),
            agent_exit=seen.agent_exit,
            agent_signal=seen.agent_signal,
            capped=seen.capped,
            tokens_in=seen.usage.tokens_in if seen.usage else None,
            tokens_out=seen.usage.tokens_out if seen.usage else None,
            tokens_cached=seen.usage.tokens_cached if seen.usage else None,
            usage_source=seen.usage.source if seen.usage else None,
            usage_error=seen.usage.error if seen.usage else None,
            patch_sha256=seen.patch_sha256,
            patch_error=seen.patch_error,
            dropped=[self.redactor.clean_text(path) for path in shortened(seen.dropped)],
            left_behind=[self.redactor.clean_text(path) for path in shortened(seen.left_behind)],
            task_sha=digests.task_sha,
            oracle_sha=digests.oracle_sha,
            prompt_sha=digests.prompt_sha,
            resources=seen.resources(),
            host_load=load,
            enforced=seen.enforced or dict.fromkeys(CAPABILITIES, MEANS_NONE),
            order_index=one.order_index,
            files=seen.files,
        )

    def _clean(self, text: str | None) -> str | None:
        return None if text is None else self.redactor.clean_text(text)


def exit_status(run: verdicts.VerifyRun) -> int | None:
    """A verify's exit status as a shell tells it: 128 + signal when killed, None when cut off by us."""
    if run.timed_out or run.memory_exceeded or run.not_started is not None:
        return None
    return run.exit_code if run.signal is None else 128 + run.signal

