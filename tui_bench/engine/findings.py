"""What one attempt has gathered so far: filled phase by phase, read once for the verdict and the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tui_bench.analysis.verdicts import Observation, VerifyRun
from tui_bench.engine.usage import Usage
from tui_bench.environments.base import Outcome
from tui_bench.ledger.rows import FileRef, Mode, PhasesMs, Resources
from tui_bench.study.model import Task

ROW_PATHS = 50
"""At most so many paths of dropped or left-behind files in a row; the rest is counted."""


@dataclass(slots=True)
class Findings:
    """Everything seen of an attempt. None: not known, or the phase did not run."""

    mode: Mode
    verify_runs: list[VerifyRun] = field(default_factory=list)
    stopped: Literal["interrupted", "operator_stopped"] | None = None
    env_unavailable: str | None = None
    worker_lost: str | None = None
    infra: str | None = None
    disk_limit: str | None = None
    written_outside: tuple[str, ...] = ()
    agent_not_started: str | None = None
    agent_killed_by: int | None = None
    agent_exit: int | None = None
    agent_signal: int | None = None
    capped: bool = False
    oracle_before_ok: bool = True
    oracle_intact: bool = True
    forbidden_edits: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    clock_jump_ms: int | None = None
    over_budget: str | None = None
    patch_not_applied: str | None = None
    patch_sha256: str | None = None
    patch_error: str | None = None
    dropped: tuple[str, ...] = ()
    usage: Usage | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    enforced: dict[str, str] = field(default_factory=dict)
    phases_ms: dict[str, int] = field(default_factory=dict)
    files: dict[str, FileRef] = field(default_factory=dict)
    stdout_tail: str | None = None
    stderr_tail: str | None = None

    def is_over(self) -> bool:
        """Whether nothing further can change the verdict: later phases are skipped."""
        lost = (self.stopped, self.env_unavailable, self.worker_lost, self.infra, self.disk_limit)
        ended = any(cause is not None for cause in (*lost, self.agent_not_started))
        return ended or bool(self.written_outside) or not self.oracle_before_ok

    def observation(self, task: Task, *, clean_within_limit: bool, verify_timeout_s: float) -> Observation:
        return Observation(
            mode=self.mode,
            verify_runs=tuple(self.verify_runs),
            fail_codes=task.fail_codes,
            expect_tests=task.expect_tests,
            stopped=self.stopped,
            env_unavailable=self.env_unavailable,
            worker_lost=self.worker_lost,
            infra=self.infra,
            disk_limit=self.disk_limit,
            written_outside=self.written_outside,
            agent_not_started=self.agent_not_started,
            agent_killed_by=self.agent_killed_by,
            capped=self.capped,
            oracle_before_ok=self.oracle_before_ok,
            oracle_intact=self.oracle_intact,
            forbidden_edits=self.forbidden_edits,
            left_behind=self.left_behind,
            clean_within_limit=clean_within_limit,
            verify_timeout_s=verify_timeout_s,
            over_budget=self.over_budget,
            clock_jump_ms=self.clock_jump_ms,
            patch_not_applied=self.patch_not_applied,
        )

    def resources(self) -> Resources:
        """Sums and peaks over all processes of the attempt; a value that one phase could not measure is null."""
        ran = [outcome for outcome in self.outcomes if outcome.why != "not_started"]
        return Resources(
            cpu_ms=_all(sum, [one.cpu_ms for one in ran]),
            peak_rss_bytes=_all(max, [one.peak_rss_bytes for one in ran]),
            peak_processes=_all(max, [one.peak_processes for one in ran]),
            left_over_processes=_all(sum, [one.left_over_processes for one in ran]),
        )

    def phases(self) -> PhasesMs:
        return PhasesMs(**self.phases_ms)


def _all(reduce: Callable[[list[int]], int], values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return reduce(known) if known and len(known) == len(values) else None


def shortened(paths: tuple[str, ...]) -> list[str]:
    """A list of paths that fits a row."""
    if len(paths) <= ROW_PATHS:
        return list(paths)
    return [*paths[:ROW_PATHS], f"and {len(paths) - ROW_PATHS} more"]
