"""Rows in, state out."""

from __future__ import annotations

import tracemalloc

import made_ledgers as made
import pytest

from tui_bench.analysis.fold import fold, fold_all
from tui_bench.analysis.state import CAPPED, DROPPED, FLAKY, REPLACED, Code, RunState


def test_an_empty_ledger_is_empty_and_not_zero_rated() -> None:
    state = RunState()
    assert (state.status, state.planned, state.done, state.head) == ("empty", 0, 0, "")
    assert state.cell("t", "e", "").code(0) is Code.MISSING


def test_a_ledger_of_letters_comes_back_as_cells() -> None:
    state = made.state_of({"t01": ["PF", "V."], "t02": ["FF", "PP"]})
    cell = state.cell("t01", "local", "")
    assert [cell.code(n) for n in range(3)] == [Code.PASS, Code.FAIL, Code.MISSING]
    assert (cell.passes(), cell.scored(), cell.done(), cell.unstable()) == (1, 2, 2, True)
    remote = state.cell("t01", "remote", "")
    assert (remote.code(0), remote.cause(0), remote.exit_code(0), remote.scored()) == (Code.VOID, "infra", 127, 0)
    assert (state.planned, state.done, state.passed, state.failed, state.voided) == (8, 7, 3, 3, 1)
    assert state.void_counts == {("infra", ""): 1}
    assert (state.task_names(), state.env_names(), state.agents) == (["t01", "t02"], ["local", "remote"], [""])
    assert state.status == "ended"


def test_started_without_an_attempt_row_is_running_until_the_row_comes() -> None:
    state = fold_all([made.run_row(subject="agent", agents=["A"]), made.task_row("t01"), made.env_row("local")])
    started = made.event_row(
        "started",
        task="t01",
        env="local",
        agent="A",
        number=0,
        role="planned",
        attempt_id="x1",
        at="2026-11-29T21:04:00.000Z",
        detail={"folder": "attempts/t01/local/A/0"},
    )
    assert "running" in fold(state, started, 7)
    fold(state, made.event_row("phase", attempt_id="x1", phase="verify"), 8)
    running = state.running["x1"]
    assert (running.key, running.number, running.phase) == (("t01", "local", "A"), 0, "verify")
    assert (running.folder, running.since) == ("attempts/t01/local/A/0", "2026-11-29T21:04:00.000Z")
    row = made.attempt_row("t01", "local", 0, True, agent="A", attempt_id="x1")
    assert ("t01", "local", "A") in fold(state, row, 4_096)
    assert not state.running
    assert state.cell("t01", "local", "A").offset(0) == 4_096


def test_b15_the_newest_row_of_a_replaced_attempt_counts_and_the_old_one_is_counted_as_replaced() -> None:
    lost = made.attempt_row("t01", "local", 0, None, void="interrupted", exit_code=None)
    again = made.attempt_row("t01", "local", 0, True, replaces=4, attempt_id="second")
    state = fold_all([made.run_row(), made.task_row("t01"), made.env_row("local"), lost])
    assert (state.voided, state.void_counts[("interrupted", "")]) == (1, 1)
    fold(state, made.run_row(resumed=True), 5)
    fold(state, again, 6)
    assert (state.done, state.passed, state.voided, state.replaced, state.counts.duplicates) == (1, 1, 0, 1, 0)
    assert state.void_counts[("interrupted", "")] == 0
    assert state.cell("t01", "local", "").flags(0) & REPLACED
    assert state.resumes == 1


def test_x0_14_a_second_row_that_replaces_nothing_is_named_a_duplicate() -> None:
    rows = [made.run_row(), made.attempt_row("t01", "local", 0, False), made.attempt_row("t01", "local", 0, True)]
    state = fold_all(rows)
    assert (state.passed, state.failed, state.done, state.counts.duplicates) == (1, 0, 1, 1)


@pytest.mark.parametrize("role", ["probe", "rerun", "warmup"])
def test_attempts_outside_the_plan_never_count(role: str) -> None:
    state = made.state_of({"t01": ["P", "P"]})
    fold(state, made.attempt_row("t01", "local", 1, False, role=role, attempt_id="probe"), 99)
    cell = state.cell("t01", "local", "")
    assert (state.failed, cell.scored(), cell.unstable(), cell.code(1)) == (0, 1, False, Code.MISSING)
    assert [(probe.number, probe.code, probe.offset) for probe in cell.probes] == [(1, Code.FAIL, 99)]


def test_flags_tell_flaky_capped_and_dropped() -> None:
    rows = [
        made.run_row(attempts=2),
        made.attempt_row("t01", "local", 0, True, verify_runs=[0, 1, 0]),
        made.attempt_row("t01", "local", 1, True, capped=True, dropped=["conftest.py"]),
    ]
    cell = fold_all(rows).cell("t01", "local", "")
    assert (cell.flags(0), cell.flags(1)) == (FLAKY, CAPPED | DROPPED)
    assert cell.flaky()
    assert not cell.unstable()


def test_a_flaky_row_that_was_replaced_leaves_no_flake_behind() -> None:
    state = fold_all([made.run_row(), made.attempt_row("t01", "local", 0, True, verify_runs=[0, 1])])
    fold(state, made.attempt_row("t01", "local", 0, True, verify_runs=[0, 0], replaces=1), 2)
    assert not state.cell("t01", "local", "").flaky()


def test_b14_a_task_that_is_not_usable_anywhere_leaves_the_plan_with_its_reason() -> None:
    state = fold_all(
        [made.run_row(), *(made.task_row(t) for t in ("t01", "t02")), made.env_row("local"), made.env_row("remote")]
    )
    for env, outcome, reason in (("local", "usable", "fails"), ("remote", "oracle_error", "exit 127")):
        fold(state, made.event_row("screened", task="t02", env=env, outcome=outcome, reason=reason), 0)
    assert (state.counted_tasks(), state.planned) == (["t01"], 2)
    assert [(one.task, one.env, one.outcome, one.reason) for one in state.excluded.values()] == [
        ("t02", "remote", "oracle_error", "exit 127")
    ]


def test_status_follows_the_events_of_the_run() -> None:
    state = RunState()
    seen = [state.status]
    for row in (
        made.run_row(),
        made.event_row("paused"),
        made.event_row("resumed"),
        made.event_row("stopped", reason="operator"),
        made.event_row("ended"),
        made.run_row(resumed=True),
        made.event_row("ended"),
    ):
        fold(state, row, 0)
        seen.append(state.status)
    assert seen == ["empty", "running", "paused", "running", "stopped", "stopped", "running", "ended"]


def test_x0_35_null_is_void_and_never_fail_even_without_a_cause() -> None:
    state = fold_all([made.attempt_row("t01", "local", 0, None, void=None)])
    cell = state.cell("t01", "local", "")
    assert (cell.code(0), cell.cause(0), state.failed) == (Code.VOID, "other", 0)


def test_a_ledger_without_run_task_or_env_rows_still_opens() -> None:
    rows = made.cells({"b": ["PP", "PF"], "a": ["FF", "PP"]}, ["x", "y"], "someone")
    state = fold_all(rows)
    assert (state.task_names(), state.env_names(), state.agents) == (["b", "a"], ["x", "y"], ["someone"])
    assert (state.attempts, state.planned, state.done) == (2, 8, 8)


def test_an_agent_that_the_run_row_does_not_name_is_added() -> None:
    state = made.state_of({"t01": ["P", "P"]}, agent="A")
    fold(state, made.attempt_row("t01", "local", 0, True, agent="B", attempt_id="b"), 0)
    assert state.agents == ["A", "B"]


@pytest.mark.parametrize(
    "broken", [{"attempt": None}, {"attempt": -1}, {"attempt": 10**9}, {"task": None}, {"env": None}]
)
def test_a_row_that_cannot_be_placed_is_counted_and_costs_no_memory(broken: dict[str, object]) -> None:
    row = made.attempt_row("t01", "local", 0, True)
    for name, value in broken.items():
        setattr(row, name, value)
    state = fold_all([made.run_row(), row])
    assert state.unknown.total() == 1
    assert state.cells == {}


def test_an_agent_that_leaves_nothing_behind_is_counted_as_idle() -> None:
    rows = [
        made.run_row(subject="agent", agents=["A"], attempts=3),
        made.attempt_row("t01", "local", 0, False, agent="A", patch_sha256="empty"),
        made.attempt_row("t01", "local", 1, False, agent="A", patch_sha256="empty", tokens_in=5),
        made.attempt_row("t01", "local", 2, False, agent="A", patch_sha256="f" * 64),
    ]
    assert fold_all(rows).idle == {"A": 1}


def test_a_hundred_thousand_rows_over_ten_thousand_cells_stay_small() -> None:
    """A tenth of the million: the cells are at their full number, and an attempt adds some 17 bytes of array."""
    tracemalloc.start()
    state = RunState()
    fold(state, made.run_row(attempts=10), 0)
    row = made.attempt_row("t", "e", 0, True)
    tasks = [f"t{index}" for index in range(1_000)]
    for number in range(10):
        for env in range(10):
            row.env, row.attempt = f"e{env}", number
            for task in tasks:
                row.task = task
                fold(state, row, 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(state.cells), state.done) == (10_000, 100_000)
    assert peak < 15 * 2**20
