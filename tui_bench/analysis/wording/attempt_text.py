"""What is to be said of one attempt beside its verdict: why it is void or failed, and what is odd about it."""

from __future__ import annotations

from collections.abc import Sequence

from tui_bench.analysis.verdicts import replays_disagree
from tui_bench.analysis.wording.numbers import counted
from tui_bench.analysis.wording.void_text import void_advice, void_words
from tui_bench.ledger.rows import AttemptRow

_PATHS = 3
_FAIL_WORDS = {
    "verify_timeout": "verify did not end within its limit, though it does on the clean checkout",
    "memory_limit": "verify was ended at the memory limit",
    "crashed": "verify crashed",
    "tests_missing": "verify ended with 0 but not all tests were seen",
    "patch_not_applied": "the patch does not apply",
}


def attempt_notes(row: AttemptRow) -> list[str]:
    """Sentences, the weightiest first; empty for a plain pass or fail."""
    notes = [*_void(row), *_fail(row)]
    if replays_disagree(row.verify_runs):
        notes.append(f"flaky test: verify runs of this one tree ended with {_codes(row.verify_runs)}")
    if row.capped:
        notes.append("capped: the agent was ended at its time limit; the verdict is as its tree earned it")
    if row.agent_exit:
        notes.append(f"the agent ended with {row.agent_exit}")
    if row.agent_signal is not None:
        notes.append(f"the agent was ended by signal {row.agent_signal}")
    if row.patch_error:
        notes.append(f"no patch: {row.patch_error}")
    if row.dropped:
        notes.append(f"dropped, not in the verified tree: {_paths(row.dropped)}")
    if row.left_behind:
        notes.append(f"verify left behind: {_paths(row.left_behind)}")
    if row.usage_error:
        notes.append(f"usage unknown: {row.usage_error}")
    return notes


def _void(row: AttemptRow) -> list[str]:
    if row.passed is not None:
        return []
    cause = row.void or "other"
    seen = row.void_detail if row.void_detail and row.void_detail != void_words(cause) else None
    notes = [f"void, {cause}: {void_words(cause)}" + (f" ({seen})" if seen else "")]
    notes.append(f"what to do: {void_advice(cause)}")
    further = [name for name in row.void_causes if name != cause]
    return [*notes, f"also seen: {', '.join(further)}"] if further else notes


def _fail(row: AttemptRow) -> list[str]:
    if not row.fail_reason:
        return []
    said = row.void_detail or _FAIL_WORDS.get(row.fail_reason, "")
    return [f"fail, {row.fail_reason}" + (f": {said}" if said else "")]


def _codes(runs: Sequence[int | None]) -> str:
    return ", ".join("null" if code is None else str(code) for code in runs)


def _paths(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:_PATHS])
    return f"{shown} and {counted(len(paths) - _PATHS, 'more path')}" if len(paths) > _PATHS else shown
