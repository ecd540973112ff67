"""The ledger's schema: five kinds of row, each a typed struct.

A row is one line of canonical JSON (sorted keys, compact separators, UTF-8) of at most 64 KB. Unknown is null and
never zero. No nested object has a key `sha`: integrity finds the row's own digest by that name.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

SCHEMA = 1
ROW_LIMIT = 64 * 1024
GENESIS = "0" * 64
"""`prev` of a ledger's first row."""

Mode = Literal["full", "spec", "clean", "reference", "patch"]
Role = Literal["planned", "probe", "rerun", "warmup"]
Event = Literal[
    "started", "phase", "beat", "paused", "resumed", "request", "screened",
    "recovered", "stopped", "ended", "review", "note",
]
Phase = Literal["prepare", "agent", "collect", "verify", "replays"]

INSTRUMENT_CAUSES = (
    "oracle_before", "oracle_invalid", "oracle_error", "verify_drift", "timeout_mismatch", "verify_timeout",
    "env_unavailable", "agent_not_started", "agent_unavailable", "killed_unknown", "disk_limit", "host_clock",
    "hygiene", "worker_lost", "infra", "interrupted", "operator_stopped", "missing",
)
CONDUCT_CAUSES = (
    "oracle_mutated", "forbidden_edit", "write_outside", "network_use", "budget_violation", "hidden_retry",
)
VOID_CAUSES = INSTRUMENT_CAUSES + CONDUCT_CAUSES
REPLACEABLE_CAUSES = (
    "interrupted", "operator_stopped", "env_unavailable", "agent_unavailable", "worker_lost", "infra",
    "disk_limit", "host_clock",
)
"""Lost before a verdict was seen: run again on resume, at most twice a cell."""
REPLACE_LIMIT = 2


class Row(msgspec.Struct, kw_only=True, tag_field="kind", omit_defaults=False):
    """What every row carries. `at` is UTC, ISO 8601 with milliseconds and `Z`."""

    run_id: str
    v: int = SCHEMA
    seq: int = 0
    at: str = ""
    task: str | None = None
    env: str | None = None
    attempt: int | None = None
    prev: str = GENESIS
    sha: str = ""


class Rule(msgspec.Struct, kw_only=True, frozen=True):
    """The sealed rule, written before any data. Rates are fractions as text, such as `1/10`."""

    flip_rate: str
    min_pairs: str
    attempts: int
    verify_replays: int
    declared_attempt: int = 0
    test: str = "midp-mcnemar"
    alpha: str = "1/20"
    void_stop: str = "1/12"
    """Stop ranking when voids exceed this share of the planned pairs."""
    drift_stop: int | None = None
    """Cells whose verify replays may disagree before the run is stopped; None: not asked for, they are flaky tests."""


class AgentFact(msgspec.Struct, kw_only=True, frozen=True):
    """What was known of an agent when the run began. Only the host of its endpoint is kept."""

    name: str
    agent_kind: str
    digest: str
    """sha256 over its command, files named by the command, budget and variables."""
    version: str | None = None
    model: str | None = None
    endpoint: str | None = None
    seed: int | None = None
    max_tokens: int | None = None
    retries: int = 0
    timeout_s: float | None = None


class Claim(msgspec.Struct, kw_only=True, frozen=True):
    """The six fields that a published score needs. None reads `unknown`."""

    task_set: str | None = None
    budget: str | None = None
    attempts: str | None = None
    harness: str | None = None
    model_endpoint: str | None = None
    verify: str | None = None


class RunRow(Row, tag="run", kw_only=True):
    """First row, and again at each resume."""

    study_id: str
    study_sha: str
    rule: Rule
    rule_sha: str
    harness_sha256: str
    config_sha: str
    """sha256 over the study files as read."""
    controls_sha: str | None
    agents: list[AgentFact]
    claim: Claim
    plan_sha: str
    planned: int
    """Attempts planned: tasks x environments x agents x attempts."""
    subject: str
    mode: Mode
    attempts: int
    jobs: int
    order_policy: str
    order_seed: int
    dimension: str | None
    dimension_facts: list[str]
    host: str
    boot_id: str | None
    pid: int
    root: bool
    python: str
    platform: str
    version: str
    resumed: bool = False
    notes: list[str] = []


class TaskRow(Row, tag="task", kw_only=True):
    """One per task, after `run`. Digests are sha256 hex over length-prefixed manifests."""

    task_sha: str
    oracle_sha: str | None
    prompt_sha: str | None
    verify_cmd: list[str] | str
    verify_timeout_s: float
    reference: bool
    cluster: str | None = None
    language: str | None = None


class EnvRow(Row, tag="env", kw_only=True):
    """One per environment, after `run`. `capabilities`: name -> means, or `none`."""

    env_kind: str
    env_sha: str | None
    facts: dict[str, str]
    volatile: dict[str, str]
    capabilities: dict[str, str]
    variables: dict[str, str]
    timeout_s: float | None = None
    unavailable: str | None = None
    """Why it cannot be used; its attempts are void: env_unavailable."""
    notes: list[str] = []
    """Weak means behind a control, in words, to be shown once."""


class EventRow(Row, tag="event", kw_only=True):
    """Something that happened. `attempt` stays null; `number` is the attempt's index within its cell."""

    event: Event
    attempt_id: str | None = None
    agent: str | None = None
    number: int | None = None
    role: Role | None = None
    replaces: int | None = None
    order_index: int | None = None
    phase: Phase | None = None
    outcome: str | None = None
    """screened: usable | already_solved | oracle_error | verify_timeout | hygiene | oracle_invalid | flaky;
    ended and stopped: why."""
    reason: str | None = None
    detail: dict[str, Any] | None = None
    files: dict[str, FileRef] | None = None


class FileRef(msgspec.Struct, kw_only=True, frozen=True):
    """A file beside the ledger: path relative to the ledger's file folder, sha256 of its bytes."""

    path: str
    sha256: str
    bytes: int
    cut: bool = False
    """The middle was left out because the file was longer than its cap."""


class Resources(msgspec.Struct, kw_only=True, frozen=True):
    """Of all phases together. None where nothing could be measured."""

    cpu_ms: int | None = None
    peak_rss_bytes: int | None = None
    peak_processes: int | None = None
    left_over_processes: int | None = None


class PhasesMs(msgspec.Struct, kw_only=True, frozen=True):
    """Milliseconds by a monotonic clock; None for a phase that did not run."""

    prepare: int | None = None
    agent: int | None = None
    collect: int | None = None
    verify: int | None = None
    replays: int | None = None


class AttemptRow(Row, tag="attempt", kw_only=True):
    """One per attempt, final. `passed` is null exactly when `void` is set."""

    attempt_id: str
    agent: str | None
    mode: Mode
    role: Role
    replaces: int | None
    env_sha: str | None
    passed: bool | None
    exit_code: int | None
    signal: int | None
    void: str | None
    void_causes: list[str]
    void_detail: str | None = None
    """One sentence for a person: what exactly was seen."""
    fail_reason: str | None = None
    """Why a fail is one where the exit code alone does not tell: verify_timeout | memory_limit."""
    wall_ms: int | None
    phases_ms: PhasesMs
    verify_cmd: list[str] | str
    verify_runs: list[int | None]
    """Exit codes of every verify of the final tree (128 + signal when killed, null when cut off)."""
    verify_stdout_tail: str | None
    verify_stderr_tail: str | None
    agent_exit: int | None
    agent_signal: int | None
    capped: bool
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    usage_source: str | None
    usage_error: str | None = None
    patch_sha256: str | None
    """sha256 of the change manifest, `empty`, or null with `patch_error`."""
    patch_error: str | None = None
    dropped: list[str]
    left_behind: list[str] = []
    """Files that verify left in its tree or TMPDIR, by-products named in .gitignore aside."""
    task_sha: str
    oracle_sha: str | None
    prompt_sha: str | None
    resources: Resources
    host_load: float | None
    """Runnable processes per core when the attempt began (1-minute average)."""
    enforced: dict[str, str]
    order_index: int | None
    files: dict[str, FileRef]
    """agent_log, verify_log, patch: those that exist."""


AnyRow = Union[RunRow, TaskRow, EnvRow, EventRow, AttemptRow]  # noqa: UP007  (msgspec reads the union)
