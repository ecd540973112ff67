"""Void causes in words: what was seen, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from tui_bench.ledger.rows import CONDUCT_CAUSES

_WORDS: dict[str, tuple[str, str]] = {
    "oracle_before": ("the oracle was not the recorded one before the agent began", "restore the oracle, start anew"),
    "oracle_invalid": ("the oracle fails on the reference patch too", "repair the oracle or leave the task out"),
    "oracle_error": ("verify could not be run, or ended with a code the task does not name", "read verify.log"),
    "verify_drift": ("verify runs of one tree disagree", "fix the test first"),
    "timeout_mismatch": ("of several verify runs of one tree only some hit the limit", "raise the limit or lower jobs"),
    "verify_timeout": ("verify hit its limit on the clean checkout too", "raise verify_timeout or leave the task out"),
    "env_unavailable": ("the environment could not be used", "tui-bench env check NAME, then resume"),
    "agent_not_started": ("the agent's command is missing or not executable", "run it by hand, then start a new run"),
    "agent_unavailable": ("no model call of the agent succeeded", "check login, quota and endpoint, then resume"),
    "killed_unknown": ("killed by a signal that the runner did not send", "look for the host's out-of-memory killer"),
    "disk_limit": ("the disk limit was reached", "free space or raise the limit, then resume"),
    "host_clock": ("the host slept or its clock jumped", "resume"),
    "hygiene": ("verify left files behind", "make the test clean up after itself"),
    "worker_lost": ("the worker vanished during the attempt", "resume"),
    "infra": ("the instrument failed", "read the attempt's log, then resume"),
    "interrupted": ("the run was interrupted", "resume, at most twice an attempt"),
    "operator_stopped": ("stopped by request", "resume"),
    "missing": ("there is no row", "resume"),
    "oracle_mutated": ("the oracle was changed during the attempt", "read patch.diff"),
    "forbidden_edit": ("a protected path was changed", "read patch.diff"),
    "write_outside": ("something was written outside the workspace", "use the sandbox environment"),
    "network_use": ("the network was used where it is denied", "read the attempt's log"),
    "budget_violation": ("the agent used more than its budget", "check the agent's budget options"),
    "hidden_retry": ("the agent tried again inside one attempt", "set retries to 0"),
    "other": ("a cause this version does not know", "open the ledger with the version that wrote it"),
}


def void_words(cause: str) -> str:
    """What was seen, in a clause."""
    return _WORDS.get(cause, _WORDS["other"])[0]


def void_advice(cause: str) -> str:
    """What to do next, in a clause."""
    return _WORDS.get(cause, _WORDS["other"])[1]


def void_summary(causes: Mapping[str, int], agent: str) -> str:
    """`2 oracle_mutated by B, 1 infra`, most frequent first; conduct is the agent's, so it carries its name."""
    ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(
        f"{count} {cause}" + (f" by {agent}" if agent and cause in CONDUCT_CAUSES else "") for cause, count in ordered
    )


def void_lines(causes: Mapping[str, int]) -> list[str]:
    """One line a cause: count, what was seen, what to do."""
    ordered = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count} {cause}: {void_words(cause)} - {void_advice(cause)}" for cause, count in ordered]
