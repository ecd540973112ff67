"""The one place where a verdict is decided.

`decide` turns what the engine saw of one attempt into pass, fail or void. A void carries the first cause in the order
things happened and every further cause; `passed` is None exactly when there is a void.

Readings that the published rule "0 = pass, anything else = fail" leaves open:

- Verify ended with 126 or 127, or could not be started: nothing was tested. The cause is `oracle_error`, never
  `infra`: the agent's tree can bring this about, and causes of the `infra` kind are run again on resume, which would
  hand an agent a second try for breaking its own test.
- A signal that we did not send: a fault the process raised itself (SIGSEGV, SIGABRT, ...) is a fail, `crashed`; any
  other is a kill nobody can explain, `killed_unknown`. Shells and sandboxes report a killed child as 128 + signal, so
  130, 137 and 143 are read as the signal: a verdict must not depend on which of them stood in between.
- `fail_codes` wins over all of these: a code the task names is a fail; with it every other non-zero code is
  `oracle_error`.
- Fewer or more tests than the task demands: with agent code in the tree a fail, `tests_missing` (a module that ends
  the test process early earns no pass); without, the oracle or the box is broken, `oracle_error`.
- Replays never change the verdict of the first run. Replays that disagree on pass and fail are left to
  `replays_disagree`; replays that disagree on the time limit void the attempt, `timeout_mismatch`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tui_bench.ledger.rows import Mode

ScreenOutcome = Literal[
    "usable", "already_solved", "oracle_error", "verify_timeout", "hygiene", "oracle_invalid", "flaky"
]
RunClass = Literal["pass", "fail", "timeout", "error", "killed"]

CANNOT_RUN = frozenset({126, 127})
"""Exit codes by which a shell says that a command is not executable or not there."""
_FAULTS = frozenset({
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS,
})  # fmt: skip
_REPORTED_KILLS = frozenset(128 + number for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM))
_WITHOUT_AGENT: frozenset[Mode] = frozenset({"clean", "reference"})

Cause = tuple[str, str]
"""A void cause and the sentence that says what was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRun:
    """How one run of verify ended. `tests_seen` is None where nothing could count them."""

    exit_code: int | None
    signal: int | None
    timed_out: bool = False
    memory_exceeded: bool = False
    not_started: str | None = None
    tests_seen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything the engine saw of one attempt. Texts are the words for a person; None or empty: not seen."""

    mode: Mode
    verify_runs: tuple[VerifyRun, ...] = ()
    fail_codes: frozenset[int] | None = None
    expect_tests: int | None = None
    stopped: Literal["interrupted", "operator_stopped"] | None = None
    env_unavailable: str | None = None
    worker_lost: str | None = None
    infra: str | None = None
    agent_not_started: str | None = None
    """Start failure, or exit 126/127 from starting the agent."""
    agent_killed_by: int | None = None
    """A signal that we did not send."""
    capped: bool = False
    """The agent hit its wall clock: the verdict is as the tree earned it."""
    oracle_before_ok: bool = True
    oracle_intact: bool = True
    forbidden_edits: tuple[str, ...] = ()
    written_outside: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    clean_within_limit: bool = True
    """The clean verify of the same task and environment ended within the limit."""
    verify_timeout_s: float | None = None
    over_budget: str | None = None
    disk_limit: str | None = None
    clock_jump_ms: int | None = None
    patch_not_applied: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`passed` is None exactly when `void` is set; `void_causes` begins with `void`.

    `detail` is one sentence on the first cause or on the fail reason; `exit_code` and `signal` are those of the first
    verify run. `fail_reason`: verify_timeout | memory_limit | crashed | tests_missing | patch_not_applied.
    """

    passed: bool | None
    void: str | None
    void_causes: tuple[str, ...]
    detail: str | None
    fail_reason: str | None
    exit_code: int | None
    signal: int | None


def decide(seen: Observation) -> Verdict:
    """The verdict of one attempt. Order of causes: what ended it, before verify, conduct, verify, after verify."""
    first = seen.verify_runs[0] if seen.verify_runs else None
    exit_code = first.exit_code if first else None
    killed_by = first.signal if first else None
    causes = [*_lost(seen), *_before_verify(seen), *_conduct(seen)]
    # An attempt that was lost has no verify to speak of: its absence is not a second cause.
    if first is not None or not causes:
        causes += _verify_causes(seen, first)
    if causes:
        names = tuple(dict.fromkeys(name for name, _ in causes))
        return Verdict(None, names[0], names, causes[0][1], None, exit_code, killed_by)
    if first is None:
        return Verdict(False, None, (), seen.patch_not_applied, "patch_not_applied", None, None)
    passed, reason, detail = _earned(first, seen)
    return Verdict(passed, None, (), detail, reason, exit_code, killed_by)


def classify_clean(
    run: VerifyRun,
    *,
    fail_codes: frozenset[int] | None,
    left_behind: Sequence[str] = (),
    verify_timeout_s: float | None,
) -> tuple[ScreenOutcome, str]:
    """Screening outcome of one verify of the untouched checkout, and the reason in words.

    Only a clean fail leaves the task usable: a pass means there is nothing to solve.
    """
    found = _classify(run, fail_codes)
    if found == "timeout":
        return "verify_timeout", _timeout_words(verify_timeout_s)
    if found == "error":
        return "oracle_error", _error_words(run)
    if found == "killed":
        return "oracle_error", _killed_words(run)
    if left_behind:
        return "hygiene", _listed("verify left files behind", left_behind)
    if found == "pass":
        return "already_solved", "verify passes on the untouched checkout"
    return "usable", "verify fails on the untouched checkout, as it must"


def replays_disagree(verify_runs: Sequence[int | None]) -> bool:
    """Whether exit codes of one final tree hold both a pass and a fail: the test is flaky, or the box is.

    Runs that were cut off (None), killed or could not be run say nothing about the test.
    """
    passed = failed = False
    for code in verify_runs:
        if code == 0:
            passed = True
        elif code is not None and code not in CANNOT_RUN and code not in _REPORTED_KILLS:
            failed = True
    return passed and failed


def _lost(seen: Observation) -> Iterator[Cause]:
    if seen.stopped == "interrupted":
        yield "interrupted", "the run was interrupted during the attempt"
    elif seen.stopped == "operator_stopped":
        yield "operator_stopped", "the attempt was stopped by request"
    if seen.env_unavailable is not None:
        yield "env_unavailable", seen.env_unavailable
    if seen.worker_lost is not None:
        yield "worker_lost", seen.worker_lost
    if seen.infra is not None:
        yield "infra", seen.infra


def _before_verify(seen: Observation) -> Iterator[Cause]:
    if not seen.oracle_before_ok:
        yield "oracle_before", "the oracle differed from its recorded digest before the agent began"
    if seen.agent_not_started is not None:
        yield "agent_not_started", seen.agent_not_started
    if seen.agent_killed_by is not None:
        yield "killed_unknown", f"the agent was killed by signal {seen.agent_killed_by}, not sent by the runner"
    if seen.disk_limit is not None:
        yield "disk_limit", seen.disk_limit
    if seen.clock_jump_ms is not None:
        yield "host_clock", f"the host's clock jumped by {seen.clock_jump_ms} ms during the attempt"


def _conduct(seen: Observation) -> Iterator[Cause]:
    if seen.over_budget is not None:
        yield "budget_violation", seen.over_budget
    if seen.written_outside:
        yield "write_outside", _listed("written outside the workspace", seen.written_outside)
    if seen.forbidden_edits:
        yield "forbidden_edit", _listed("protected paths changed", seen.forbidden_edits)


def _verify_causes(seen: Observation, first: VerifyRun | None) -> Iterator[Cause]:
    if first is None:
        if seen.patch_not_applied is None:
            yield "infra", "verify was not run"
        return
    found = _classify(first, seen.fail_codes)
    if found == "error":
        yield "oracle_error", _error_words(first)
    elif found == "killed":
        yield "killed_unknown", _killed_words(first)
    elif _tests_differ(first, seen) and seen.mode in _WITHOUT_AGENT:
        yield "oracle_error", _tests_words(first, seen)
    timeouts = sum(run.timed_out for run in seen.verify_runs)
    if 0 < timeouts < len(seen.verify_runs):
        yield "timeout_mismatch", f"{timeouts} of {len(seen.verify_runs)} verify runs of one tree hit the time limit"
    elif found == "timeout" and (seen.mode == "clean" or not seen.clean_within_limit):
        yield "verify_timeout", _timeout_words(seen.verify_timeout_s) + ", on the clean checkout too"
    if not seen.oracle_intact:
        yield "oracle_mutated", "the oracle differed from its recorded digest after verify"
    if seen.left_behind and seen.mode in _WITHOUT_AGENT:
        yield "hygiene", _listed("verify left files behind", seen.left_behind)


def _earned(first: VerifyRun, seen: Observation) -> tuple[bool, str | None, str | None]:
    """pass or fail of a run with no cause for a void, the fail reason, and the words for it."""
    found = _classify(first, seen.fail_codes)
    if found == "timeout":
        return False, "verify_timeout", _timeout_words(seen.verify_timeout_s)
    if found == "pass":
        if _tests_differ(first, seen):
            return False, "tests_missing", _tests_words(first, seen)
        return True, None, None
    if first.memory_exceeded:
        return False, "memory_limit", "verify was ended at the memory limit of the environment"
    if first.signal is not None:
        return False, "crashed", f"verify crashed with signal {first.signal}"
    return False, None, None


def _classify(run: VerifyRun, fail_codes: frozenset[int] | None) -> RunClass:
    if run.not_started is not None:
        return "error"
    if run.timed_out:
        return "timeout"
    if run.memory_exceeded:
        return "fail"
    if run.signal is not None:
        return "fail" if run.signal in _FAULTS else "killed"
    if run.exit_code is None:
        return "error"
    if run.exit_code == 0:
        return "pass"
    return _classify_code(run.exit_code, fail_codes)


def _classify_code(code: int, fail_codes: frozenset[int] | None) -> RunClass:
    if fail_codes is not None and code in fail_codes:
        return "fail"
    if code in _REPORTED_KILLS:
        return "killed"
    return "error" if fail_codes is not None or code in CANNOT_RUN else "fail"


def _tests_differ(first: VerifyRun, seen: Observation) -> bool:
    return seen.expect_tests is not None and first.exit_code == 0 and first.tests_seen != seen.expect_tests


def _tests_words(first: VerifyRun, seen: Observation) -> str:
    count = "no count of" if first.tests_seen is None else str(first.tests_seen)
    return f"verify ended with 0 but {count} tests were seen, {seen.expect_tests} expected"


def _timeout_words(limit_s: float | None) -> str:
    return "verify hit its time limit" if limit_s is None else f"verify did not end within {limit_s:g} s"


def _error_words(run: VerifyRun) -> str:
    if run.not_started is not None:
        return f"verify could not be started: {run.not_started}"
    if run.exit_code is None:
        return "verify ended without an exit code"
    if run.exit_code in CANNOT_RUN:
        return f"verify could not be run (exit {run.exit_code})"
    return f"verify ended with {run.exit_code}, which the task does not name as a fail"


def _killed_words(run: VerifyRun) -> str:
    number = run.signal if run.signal is not None else (run.exit_code or 0) - 128
    return f"verify was killed by signal {number}, not sent by the runner"


def _listed(what: str, paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"{what}: {shown}{more}"
