"""The top line and the clocks: what is said when, from plain values."""

from __future__ import annotations

import pytest
from tui_ledgers import START, TASKS, run_row

from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.ledger.rows import EventRow
from tui_bench.tui.clock import age, remaining, seconds_of, short_age, time_range
from tui_bench.tui.widgets.status import Life, facts, life_of


@pytest.mark.parametrize(
    ("status", "beat_s", "linked", "wanted"),
    [
        ("running", 0.4, True, "live"), ("running", 0.4, False, "live"), ("running", 31.0, True, "late"),
        ("running", 31.0, False, "lost"), ("paused", 2.0, True, "paused"), ("paused", 90.0, False, "lost"),
        ("stopped", 9999.0, False, "stopped"), ("ended", 9999.0, False, "ended"), ("running", None, False, "lost"),
    ],
)  # fmt: skip
def test_b72_life_is_told_from_the_last_word_its_age_and_the_runner(
    status: str, beat_s: float | None, linked: bool, wanted: Life
) -> None:
    state = RunState(rows=5, status=status)  # type: ignore[arg-type]
    assert life_of(state, beat_s, linked) == wanted


def test_before_the_first_row_it_waits() -> None:
    assert life_of(RunState(), None, True) == "waiting"
    assert life_of(RunState(), None, False) == "waiting"


def test_another_machines_clock_does_not_make_a_live_run_look_lost() -> None:
    state = RunState()
    fold(state, run_row(["a"], 1, 1, 1))
    state.last_at = "2026-11-29T18:00:00.000Z"
    assert facts(state, START, linked=False, quiet_s=None).life == "lost"
    assert facts(state, START, linked=False, quiet_s=1.5).life == "live"
    assert facts(state, START, linked=False, quiet_s=1.5).beat_s == 1.5


def test_elapsed_stops_with_the_run() -> None:
    state = RunState()
    run = run_row(["a"], 1, 1, 1)
    run.at = "2026-11-29T21:00:00.000Z"
    fold(state, run)
    fold(state, EventRow(run_id="r", event="ended", at="2026-11-29T21:03:20.000Z", outcome="complete"))
    assert facts(state, START + 9999, linked=False, quiet_s=None).elapsed_s == 200


@pytest.mark.parametrize(("seconds", "wanted"), [(0, "0:00"), (41.9, "0:41"), (725, "12:05"), (11_045, "3:04:05")])
def test_running_times(seconds: float, wanted: str) -> None:
    assert age(seconds) == wanted


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(0.4, "0.4 s"), (12.7, "12 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 d")],
)
def test_ages(seconds: float, wanted: str) -> None:
    assert short_age(seconds) == wanted


def test_remaining_time_is_a_range_from_quartiles_and_hidden_below_five() -> None:
    assert remaining([1000] * 4, 10, 2) is None
    assert remaining([1000] * 5, 0, 2) is None
    low, high = remaining([1000, 2000, 3000, 4000, 5000], 10, 2) or (0, 0)
    assert (low, high) == (10.0, 20.0)


@pytest.mark.parametrize(
    ("low", "high", "wanted"), [(10, 30, "10–30 s"), (130, 220, "2–4 min"), (0.2, 0.4, "0–1 s"), (3600, 9000, "1–3 h")]
)
def test_a_range_reads_in_one_unit(low: float, high: float, wanted: str) -> None:
    assert time_range(low, high) == wanted


def test_a_time_that_is_none_is_not_guessed() -> None:
    assert seconds_of("yesterday") is None
    assert seconds_of("2026-11-29T21:04:00.000Z") == START
    assert TASKS
