"""What an attempt is called, from what was seen of it."""

from __future__ import annotations

import signal

import pytest

from tui_bench.analysis.verdicts import Observation, Verdict, VerifyRun, classify_clean, decide, replays_disagree
from tui_bench.ledger.rows import VOID_CAUSES


def ended(code: int | None, **seen: object) -> VerifyRun:
    return VerifyRun(**({"exit_code": code, "signal": None} | seen))  # type: ignore[arg-type]


def killed(number: int, **seen: object) -> VerifyRun:
    return ended(None, signal=number, **seen)


def verdict(*runs: VerifyRun, mode: str = "full", **seen: object) -> Verdict:
    return decide(Observation(mode=mode, verify_runs=runs, **seen))  # type: ignore[arg-type]


def test_zero_is_pass_and_anything_else_is_fail() -> None:
    assert verdict(ended(0)) == Verdict(True, None, (), None, None, 0, None)
    assert verdict(ended(1)) == Verdict(False, None, (), None, None, 1, None)
    assert verdict(ended(5)).passed is False


@pytest.mark.parametrize(("code", "expected"), [(1, False), (2, None), (5, None), (127, None), (0, True)])
def test_x3_28_with_fail_codes_other_codes_are_oracle_errors(code: int, expected: bool | None) -> None:
    found = verdict(ended(code), fail_codes=frozenset({1}))
    assert found.passed is expected
    assert found.void == ("oracle_error" if expected is None else None)


def test_a_named_fail_code_wins_over_every_reading_of_the_code() -> None:
    assert verdict(ended(127), fail_codes=frozenset({127})).passed is False
    assert verdict(ended(137), fail_codes=frozenset({137})).passed is False


@pytest.mark.parametrize("code", [126, 127])
def test_a_verify_that_cannot_be_run_is_void_and_never_run_again_by_itself(code: int) -> None:
    found = verdict(ended(code))
    assert (found.void, found.exit_code) == ("oracle_error", code)
    assert str(code) in (found.detail or "")
    assert verdict(ended(None, not_started="no such file")).void == "oracle_error"


def test_b09_a_kill_nobody_can_explain_is_void() -> None:
    found = verdict(killed(signal.SIGKILL))
    assert (found.passed, found.void, found.signal) == (None, "killed_unknown", 9)


def test_b09_the_same_kill_reported_by_a_shell_or_a_sandbox_is_the_same_verdict() -> None:
    assert verdict(ended(137)).void == "killed_unknown"
    assert "signal 9" in (verdict(ended(137)).detail or "")


def test_b09_our_own_memory_limit_is_a_fail_with_that_reason() -> None:
    found = verdict(killed(signal.SIGKILL, memory_exceeded=True))
    assert (found.passed, found.fail_reason, found.signal) == (False, "memory_limit", 9)


def test_b09_a_crash_is_the_programs_own_fail() -> None:
    found = verdict(killed(signal.SIGSEGV))
    assert (found.passed, found.fail_reason) == (False, "crashed")
    assert verdict(ended(139)).passed is False


def test_b09_an_agent_killed_from_outside_is_void_whatever_verify_says() -> None:
    found = verdict(ended(0), agent_killed_by=9)
    assert (found.passed, found.void, found.exit_code) == (None, "killed_unknown", 0)


def test_b11_an_agent_that_did_not_start_is_void_without_a_second_cause() -> None:
    found = verdict(agent_not_started="no-such-cli: not found (exit 127)")
    assert found.void_causes == ("agent_not_started",)
    assert found.detail == "no-such-cli: not found (exit 127)"


def test_b12_a_capped_agent_earns_what_its_tree_earns() -> None:
    assert verdict(ended(0), capped=True).passed is True
    assert verdict(ended(1), capped=True).passed is False


def test_b13_a_hanging_verify_is_a_fail_where_the_clean_one_was_within_the_limit() -> None:
    found = verdict(ended(None, timed_out=True), clean_within_limit=True, verify_timeout_s=5.0)
    assert (found.passed, found.fail_reason) == (False, "verify_timeout")
    assert found.detail == "verify did not end within 5 s"


@pytest.mark.parametrize(("mode", "within"), [("full", False), ("clean", True)])
def test_b13_a_hanging_verify_is_void_where_the_clean_one_hangs_too(mode: str, within: bool) -> None:
    found = verdict(ended(None, timed_out=True), mode=mode, clean_within_limit=within, verify_timeout_s=5.0)
    assert found.void == "verify_timeout"
    assert "5 s" in (found.detail or "")


def test_x3_08_replays_of_which_only_some_time_out_are_void() -> None:
    cut = ended(None, timed_out=True)
    assert verdict(ended(0), cut).void == "timeout_mismatch"
    assert verdict(cut, ended(1)).void_causes == ("timeout_mismatch",)
    assert verdict(cut, cut).fail_reason == "verify_timeout"


def test_the_first_verify_decides_and_replays_only_show_a_flake() -> None:
    assert verdict(ended(0), ended(1)).passed is True
    assert verdict(ended(1), ended(0)).passed is False
    assert verdict(ended(0), ended(137)).passed is True


@pytest.mark.parametrize(
    ("codes", "flaky"),
    [
        ([0, 0], False),
        ([1, 2], False),
        ([0, 1], True),
        ([1, 0, 0], True),
        ([0, None], False),
        ([0, 137], False),
        ([0, 127], False),
        ([], False),
    ],
)
def test_replays_disagree_only_on_pass_and_fail(codes: list[int | None], flaky: bool) -> None:
    assert replays_disagree(codes) is flaky


def test_d18_a_demanded_number_of_tests_is_needed_for_a_pass() -> None:
    assert verdict(ended(0, tests_seen=3), expect_tests=3).passed is True
    for count in (None, 0, 2):
        found = verdict(ended(0, tests_seen=count), expect_tests=3)
        assert (found.passed, found.fail_reason) == (False, "tests_missing")
    assert verdict(ended(1, tests_seen=None), expect_tests=3).fail_reason is None


def test_a_wrong_number_of_tests_without_an_agent_is_the_oracles_fault() -> None:
    assert verdict(ended(0, tests_seen=0), expect_tests=3, mode="reference").void == "oracle_error"


def test_x2_09_a_patch_that_does_not_apply_is_a_fail() -> None:
    found = verdict(mode="patch", patch_not_applied="hunk 1 of a.py failed")
    assert (found.passed, found.fail_reason, found.detail) == (False, "patch_not_applied", "hunk 1 of a.py failed")
    assert found.exit_code is None


def test_an_attempt_without_any_verify_is_void() -> None:
    assert verdict().void == "infra"


def test_x0_30_leftovers_void_an_attempt_only_where_no_agent_ran() -> None:
    for mode in ("clean", "reference"):
        assert verdict(ended(1), mode=mode, left_behind=("cache.db",)).void == "hygiene"
    for mode in ("full", "spec", "patch"):
        assert verdict(ended(1), mode=mode, left_behind=("cache.db",)).passed is False


def test_x3_10_the_first_cause_in_time_leads_and_all_are_listed() -> None:
    found = verdict(
        ended(127),
        stopped="interrupted",
        oracle_before_ok=False,
        oracle_intact=False,
        forbidden_edits=("run_tests.sh",),
        written_outside=("/tmp/x",),
        over_budget="9,000 tokens of 6,000",
    )
    assert found.void == "interrupted"
    assert found.void_causes == (
        "interrupted",
        "oracle_before",
        "budget_violation",
        "write_outside",
        "forbidden_edit",
        "oracle_error",
        "oracle_mutated",
    )


def test_tampering_is_not_hidden_by_trouble_of_verify_that_follows() -> None:
    assert verdict(ended(1), oracle_intact=False).void == "oracle_mutated"
    assert verdict(killed(9), forbidden_edits=("a",)).void_causes == ("forbidden_edit", "killed_unknown")
    many = verdict(ended(0), forbidden_edits=("a", "b", "c", "d", "e"))
    assert many.detail == "protected paths changed: a, b, c and 2 more"


@pytest.mark.parametrize(
    ("seen", "cause"),
    [
        ({"stopped": "operator_stopped"}, "operator_stopped"),
        ({"env_unavailable": "bwrap is missing"}, "env_unavailable"),
        ({"worker_lost": "slot 2 vanished"}, "worker_lost"),
        ({"infra": "no space for the log"}, "infra"),
        ({"disk_limit": "20 MB reached"}, "disk_limit"),
        ({"clock_jump_ms": 3_600_000}, "host_clock"),
    ],
)
def test_an_attempt_lost_to_the_instrument_is_void_with_its_own_cause(seen: dict[str, object], cause: str) -> None:
    assert verdict(**seen).void_causes == (cause,)
    assert verdict(ended(0), **seen).void == cause


def test_passed_is_none_exactly_when_void_is_set_over_many_observations() -> None:
    runs = [
        ended(0),
        ended(1),
        ended(127),
        killed(9),
        killed(11),
        ended(None, timed_out=True),
        ended(None, not_started="x"),
    ]
    flags: list[dict[str, object]] = [{}, {"oracle_intact": False}, {"stopped": "interrupted"}, {"left_behind": ("x",)}]
    for mode in ("full", "spec", "clean", "reference", "patch"):
        for first in runs:
            for second in runs:
                for flag in flags:
                    found = verdict(first, second, mode=mode, **flag)
                    assert (found.passed is None) == (found.void is not None) == bool(found.void_causes)
                    assert set(found.void_causes) <= set(VOID_CAUSES)
                    assert found.void_causes[:1] == ((found.void,) if found.void else ())


@pytest.mark.parametrize(
    ("run", "left", "outcome"),
    [
        (ended(1), (), "usable"),
        (ended(0), (), "already_solved"),
        (ended(0), ("x",), "hygiene"),
        (ended(1), ("x",), "hygiene"),
        (ended(127), (), "oracle_error"),
        (ended(None, not_started="no sh"), (), "oracle_error"),
        (killed(9), (), "oracle_error"),
        (killed(11), (), "usable"),
        (ended(None, timed_out=True), (), "verify_timeout"),
    ],
)
def test_screening_of_the_untouched_checkout(run: VerifyRun, left: tuple[str, ...], outcome: str) -> None:
    found, reason = classify_clean(run, fail_codes=None, left_behind=left, verify_timeout_s=5)
    assert found == outcome
    assert reason


def test_screening_with_fail_codes_sets_a_collection_error_apart() -> None:
    assert classify_clean(ended(5), fail_codes=frozenset({1}), verify_timeout_s=5)[0] == "oracle_error"
    assert classify_clean(ended(1), fail_codes=frozenset({1}), verify_timeout_s=5)[0] == "usable"
