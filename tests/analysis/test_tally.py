"""The tally counts tasks by the declared attempt, keeps unknown unknown, and takes the task as the unit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from made_ledgers import attempt_row, env_row, event_row, run_row, task_row
from scipy import stats as scipy_stats

from tui_bench.analysis.fold import fold_all
from tui_bench.analysis.state import RunState
from tui_bench.analysis.stats.clustered import clustered_se, mean_interval, t_quantile
from tui_bench.analysis.tally import Tally, tallies, void_reasons, void_tasks
from tui_bench.ledger.rows import AnyRow


def attempt(task: str, number: int, passed: bool | None, **fields: object) -> AnyRow:
    return attempt_row(task, "local", number, passed, **fields)


def state_of(rows: list[AnyRow]) -> RunState:
    """Four tasks, one environment, two attempts."""
    return fold_all([run_row(attempts=2), *map(task_row, "abcd"), env_row("local"), *rows])


def test_h14_the_clustered_error_has_its_correction() -> None:
    groups = [[1, 1], [0, 0], [1, 0]]
    assert clustered_se(groups) == pytest.approx(0.2886751346, abs=1e-9)
    assert clustered_se([[0.5], [1.0], [0.25]]) == pytest.approx(scipy_stats.sem([0.5, 1.0, 0.25]), abs=1e-12)
    for nothing in ([], [[1.0]], [[1.0], []]):
        with pytest.raises(ValueError, match="two groups"):
            clustered_se(nothing)


@pytest.mark.parametrize("freedom", [1, 2, 5, 11, 23, 400])
@pytest.mark.parametrize("conf", [0.5, 0.9, 0.95, 0.99])
def test_t_quantiles_are_those_of_scipy(freedom: int, conf: float) -> None:
    assert t_quantile(conf, freedom) == pytest.approx(scipy_stats.t.ppf(0.5 + conf / 2, freedom), rel=1e-9)


def test_an_interval_without_spread_is_not_zero_wide_but_absent() -> None:
    assert mean_interval([1.0, 1.0, 1.0]) is None
    assert mean_interval([0.5]) is None
    low, high = mean_interval([0.0, 0.5, 1.0, 0.5]) or (9, 9)
    half = scipy_stats.t.ppf(0.975, 3) * scipy_stats.sem([0.0, 0.5, 1.0, 0.5])
    assert (low, high) == (max(0.0, 0.5 - half), min(1.0, 0.5 + half))


def one(rows: list[AnyRow]) -> Tally:
    return tallies(state_of(rows))[0]


def test_tasks_are_counted_by_their_first_attempt_and_repeats_only_enter_the_means() -> None:
    found = one([
        attempt("a", 0, True), attempt("a", 1, False), attempt("b", 0, False), attempt("b", 1, False),
        attempt("c", 0, None), attempt("c", 1, True),
    ])  # fmt: skip
    assert (found.passed, found.failed, found.void, found.missing) == (1, 1, 1, 1)
    assert (found.scored, found.rate) == (2, Fraction(1, 2))
    assert (found.means, found.mean) == (3, Fraction(1, 2)), "the mean of 1/2, 0 and 1, whatever the attempts"
    assert found.rate_interval is not None and found.mean_interval is not None


def test_nothing_scored_has_no_rate_no_interval_and_no_cost() -> None:
    found = one([])
    assert (found.scored, found.missing) == (0, 4)
    assert (found.rate, found.rate_interval, found.mean, found.mean_interval) == (None, None, None, None)
    assert (found.tokens_per_solved, found.wall_p50_ms) == (None, None)


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [
        ([(100, 20), (300, 80), (500, 0)], Fraction(1000, 2)),
        ([(100, 20), (None, 80), (500, 0)], None),
        ([(0, 0), (0, 0), (0, 0)], Fraction(0)),
    ],
)
def test_x1_02_tokens_per_solved_is_null_as_soon_as_one_is_unknown(
    tokens: list[tuple[int | None, int]], wanted: Fraction | None
) -> None:
    verdicts = (True, True, False)
    found = one([
        attempt(task, 0, passed, tokens_in=used[0], tokens_out=used[1])
        for task, passed, used in zip("abc", verdicts, tokens, strict=True)
    ])  # fmt: skip
    assert found.tokens_per_solved == wanted


def test_x1_03_no_task_solved_has_no_cost_a_task() -> None:
    assert one([attempt("a", 0, False, tokens_in=10, tokens_out=1)]).tokens_per_solved is None


def test_x1_04_the_middle_duration_is_that_of_the_middle_two() -> None:
    found = one([attempt(task, 0, True, wall_ms=ms) for task, ms in zip("abcd", (1, 2, 3, 180), strict=True)])
    assert (found.wall_p50_ms, found.wall_at_least) == (2.5, False)


def test_x1_04_where_half_hit_the_limit_the_middle_is_at_least_that() -> None:
    walls = [(5, False), (180, True), (182, True), (9, False)]
    found = one([
        attempt(task, 0, True, wall_ms=ms, capped=capped)
        for task, (ms, capped) in zip("abcd", walls, strict=True)
    ])  # fmt: skip
    assert (found.wall_p50_ms, found.wall_at_least, found.capped) == (180, True, 2)


def test_void_reasons_name_the_first_cell_and_leave_out_what_was_run_again() -> None:
    state = state_of([
        attempt("a", 0, None, void="interrupted"), attempt("b", 0, None, void="infra"),
        attempt("b", 1, None, void="infra"), attempt("d", 0, None, void="oracle_mutated"),
        attempt("a", 0, True, replaces=9),
    ])  # fmt: skip
    found = [(reason.cause, reason.count, reason.first[0]) for reason in void_reasons(state)]
    assert found == [("infra", 2, "b"), ("oracle_mutated", 1, "d")]


def test_tasks_with_a_void_are_counted_against_the_limit_of_the_rule() -> None:
    state = state_of([attempt("a", 0, None, void="infra"), attempt("b", 1, None, void="infra")])
    (found,) = void_tasks(state)
    assert (found.tasks, found.planned, found.limit) == (1, 4, 0), "1/12 of 4 tasks; a repeat does not count"


def test_attempts_at_once_are_those_asked_for_last_and_forgotten_by_a_resume() -> None:
    asked = [event_row("request", detail={"do": "jobs", "arg": arg}) for arg in (3, "5", 0, "many", 10**12, None)]
    rows = [run_row(), *asked]
    assert fold_all(rows).jobs == 5
    assert fold_all([*rows, run_row(resumed=True)]).jobs == 2
