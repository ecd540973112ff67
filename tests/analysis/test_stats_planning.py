"""Planning, gates and stopping: the printed tables, scipy, enumeration, and what must hold for any plan.

The whole table of tasks needed takes about a second, one smallest gap at 500 tasks some 50 ms; no test asserts a time.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tui_bench.analysis.stats.attempts_plan import (
    Growth,
    Spread,
    attempts_needed,
    cheaper_growth,
    miller_gap,
    miller_tasks,
)
from tui_bench.analysis.stats.gate_table import GateRow, gate_row, pairs_to_open, posterior_within
from tui_bench.analysis.stats.paired import mcnemar_exact, mcnemar_midp
from tui_bench.analysis.stats.paired_power import PairedTest, critical_counts, paired_power
from tui_bench.analysis.stats.planner import connor_tasks, detectable_gap, tasks_needed, tasks_table
from tui_bench.analysis.stats.possible import verdicts_possible
from tui_bench.analysis.stats.proportion import clean_pairs_needed, lower_bound, upper_bound
from tui_bench.analysis.stats.repeats import escape
from tui_bench.analysis.stats.stopping import expected_pairs_until_decided, sequential_plan

CLOSE = pytest.approx
TENTH, TWENTIETH = Fraction(1, 10), Fraction(1, 20)
PROPERTY = settings(database=None, deadline=None, derandomize=True, max_examples=40)
TESTS: tuple[PairedTest, ...] = ("mid_p", "exact")


# Power of the paired test


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alpha", [TWENTIETH, Fraction(1, 100), Fraction(1, 3)])
def test_critical_counts_are_those_of_the_p_values(test: PairedTest, alpha: Fraction) -> None:
    p_of = mcnemar_midp if test == "mid_p" else mcnemar_exact
    for m, found in enumerate(critical_counts(60, alpha, test)):
        assert found == max((k for k in range(m // 2 + 1) if p_of(k, m - k) <= alpha), default=-1)


def test_smallest_splits_that_reach_five_per_cent() -> None:
    exact, midp = critical_counts(30, TWENTIETH, "exact"), critical_counts(30, TWENTIETH, "mid_p")
    assert [exact[m] for m in (5, 6, 12, 20, 30)] == [-1, 0, 2, 5, 9]
    assert [midp[m] for m in (4, 5)] == [-1, 0]


def test_power_equals_the_sum_over_all_tables() -> None:
    draw = random.Random(30)
    for _ in range(8):
        n, discordance = draw.randint(5, 60), draw.uniform(0.1, 1)
        gap, test = draw.uniform(0, discordance), draw.choice(TESTS)
        p_of = mcnemar_midp if test == "mid_p" else mcnemar_exact
        share = (discordance + gap) / (2 * discordance)
        expected = sum(
            scipy_stats.binom.pmf(m, n, discordance)
            * sum(scipy_stats.binom.pmf(k, m, share) for k in range(m + 1) if p_of(k, m - k) <= TWENTIETH)
            for m in range(n + 1)
        )
        assert paired_power(n, discordance, gap, test=test) == CLOSE(float(expected), abs=1e-10)


def test_size_of_both_tests_where_there_is_no_gap() -> None:
    sizes: dict[PairedTest, list[float]] = {test: [] for test in TESTS}
    for n, tenths, test in product((12, 24, 50, 100), range(1, 6), TESTS):
        sizes[test].append(paired_power(n, tenths / 10, 0, test=test))
    assert 0.045 < max(sizes["mid_p"]) <= 0.0495
    assert 0.035 < max(sizes["exact"]) <= 0.041


@PROPERTY
@given(st.integers(0, 200), st.floats(0.01, 1), st.floats(0, 0.98), st.floats(0, 1))
def test_power_is_symmetric_bounded_and_grows_with_the_gap(
    n: int, discordance: float, less: float, more: float
) -> None:
    small, large = sorted((discordance * less, discordance * more))
    exact, midp = (paired_power(n, discordance, small, test=test) for test in ("exact", "mid_p"))
    assert 0 <= exact <= midp + 1e-12 <= 1 + 1e-12
    assert midp == paired_power(n, discordance, -small)
    assert midp <= paired_power(n, discordance, large) + 1e-9


# Tasks needed

TABLE = {
    5: ["305/337", "461/498", "622/658", "938/975", None, None],
    10: ["66/78", "107/122", "152/168", "230/249", "311/329", "389/408"],
    15: [None, "44/52", "62/72", "102/112", "135/147", "172/183"],
    20: [None, None, "33/39", "53/61", "76/84", "95/103"],
    25: [None, None, None, "32/38", "46/52", "61/67"],
    30: [None, None, None, "21/25", "31/36", "41/46"],
    40: [None, None, None, None, "16/19", "21/25"],
}


def test_table_of_tasks_needed_at_80_per_cent_power() -> None:
    discordances = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
    found = tasks_table([points / 100 for points in TABLE], discordances)
    printed = {
        (points / 100, discordance): text
        for points, line in TABLE.items()
        for discordance, text in zip(discordances, line, strict=True)
        if points / 100 <= discordance
    }
    assert {(one.gap, one.discordance) for one in found} == set(printed)
    for one in found:
        expected = printed[one.gap, one.discordance]
        assert (None if one.mid_p is None else f"{one.mid_p}/{one.exact}") == expected


@pytest.mark.parametrize(
    ("n", "points"),
    [
        (12, {0.3: None, 0.4: None, 0.5: 50}),
        (20, {0.4: 36}),
        (22, {8 / 22: 33}),
        (24, {0.3: 28, 0.4: 33, 0.5: 38}),
        (50, {0.2: 17, 0.3: 21, 0.4: 24}),
        (100, {0.1: 8, 0.2: 12, 0.3: 15, 0.4: 18}),
        (500, {0.1: 3.9, 0.2: 5.6, 0.3: 6.9, 0.4: 8.0}),
    ],
)
def test_smallest_gap_that_given_tasks_show(n: int, points: dict[float, float | None]) -> None:
    for discordance, expected in points.items():
        found = detectable_gap(n, discordance)
        digits = 1 if n == 500 else 0
        assert (None if found is None else round(100 * found, digits)) == expected


@PROPERTY
@given(st.floats(0.05, 1), st.floats(0.1, 1), st.sampled_from(TESTS))
def test_tasks_needed_are_a_crossing_and_grow_as_the_gap_shrinks(
    discordance: float, share: float, test: PairedTest
) -> None:
    gap = discordance * share
    needed = tasks_needed(gap, discordance, test=test)
    if needed is None:
        assert paired_power(1200, discordance, gap, test=test) < 0.8
        return
    assert paired_power(needed, discordance, gap, test=test) >= 0.8
    assert paired_power(needed - 1, discordance, gap, test=test) < 0.8
    smaller = tasks_needed(gap * 0.8, discordance, test=test)
    assert smaller is None or smaller >= needed
    assert needed == CLOSE(connor_tasks(discordance, gap), rel=0.5, abs=8)


@pytest.mark.parametrize("discordance", [0.2, 0.4])
def test_more_tasks_show_smaller_gaps(discordance: float) -> None:
    gaps = [detectable_gap(n, discordance) or 1.0 for n in (10, 25, 60, 150, 400)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < discordance / 2


# Tasks and attempts


def test_tasks_and_attempts_in_the_form_of_miller() -> None:
    ninth, single = Spread(1 / 9, 0, 0), Spread(1 / 9, 1 / 6, 1 / 6)
    assert miller_tasks(0.03, ninth, 1, 1) == 969
    assert miller_tasks(0.03, single, 1, 1) == 3876
    assert [round(100 * miller_gap(198, single, k, k), 1) for k in (1, 10)] == [13.3, 7.6]


def test_the_cheaper_growth_depends_on_what_varies() -> None:
    tasks_vary, attempts_vary = Spread(1 / 9, 0.01, 0.01), Spread(0.001, 1 / 4, 1 / 4)
    assert cheaper_growth(0.05, 100, 1, tasks_vary).cheaper == "more tasks"
    assert cheaper_growth(0.05, 100, 1, tasks_vary).attempts is None
    more = cheaper_growth(0.1, 100, 1, attempts_vary)
    assert more.attempts is not None
    assert (more.attempts_runs, more.tasks_runs) == (200 * more.attempts, 2 * more.tasks)
    assert more.cheaper == "more tasks"
    assert cheaper_growth(0.1, 100, 1, attempts_vary, task_price=1).cheaper == "more attempts"
    assert cheaper_growth(0.05, 100, 1, tasks_vary, task_price=1000).cheaper == "more tasks"
    assert cheaper_growth(0.5, 100, 2, attempts_vary) == Growth(100, 400, 2, 400, "neither needed")


@PROPERTY
@given(st.floats(0.02, 0.6), st.floats(0, 0.3), st.floats(0, 0.25), st.integers(1, 6), st.integers(1, 400))
def test_plans_with_attempts_are_consistent(gap: float, question: float, attempt: float, k: int, tasks: int) -> None:
    spread = Spread(question, attempt, attempt)
    needed = miller_tasks(gap, spread, k, k)
    assert miller_gap(needed, spread, k, k) <= gap * (1 + 1e-9)
    assert miller_tasks(gap, spread, k + 1, k + 1) <= needed
    growth = cheaper_growth(gap, tasks, k, spread)
    rounding = 2 * k + (0 if growth.attempts is None else 2 * tasks)
    assert growth.attempts_runs is None or growth.tasks_runs <= growth.attempts_runs + rounding
    attempts = attempts_needed(gap, tasks, spread)
    if attempts is None:
        assert miller_gap(tasks, spread, 10**9, 10**9) >= gap * (1 - 1e-6)
    else:
        assert miller_gap(tasks, spread, attempts, attempts) <= gap * (1 + 1e-9)
        if attempts > 1:
            assert miller_gap(tasks, spread, attempts - 1, attempts - 1) > gap * (1 - 1e-9)


# Gates

GATE = [
    (12, 1, None, 4), (20, 2, None, 5), (24, 2, None, 6), (29, 2, 0, 7), (46, 4, 1, 9), (50, 5, 1, 10), (61, 6, 2, 11),
    (100, 10, 4, 16), (200, 20, 12, 28),
]  # fmt: skip


@pytest.mark.parametrize("row", GATE)
def test_table_of_a_gate_of_one_tenth(row: tuple[int, int, int | None, int]) -> None:
    assert gate_row(row[0], TENTH) == GateRow(*row)


@pytest.mark.parametrize("text", ["0", "1/20", "1/10", "1/3", "1"])
def test_gate_rows_say_what_the_bounds_say(text: str) -> None:
    limit = Fraction(text)
    for n in range(1, 40):
        row = gate_row(n, limit)
        opening = [k for k in range(n + 1) if upper_bound(k, n) <= limit]
        shutting = [k for k in range(1, n + 1) if lower_bound(k, n) >= limit]
        assert row.open_up_to == (max(opening) if opening else None)
        assert row.shut_from == (min(shutting) if shutting else None)
        assert row.allowed == max(k for k in range(n + 1) if Fraction(k, n) <= limit)


def test_pairs_that_make_a_count_conclusive() -> None:
    assert [pairs_to_open(flips, TENTH) for flips in range(3)] == [29, 46, 61]
    assert (pairs_to_open(0, Fraction(1, 5)), pairs_to_open(0, Fraction(0)), pairs_to_open(3, Fraction(1))) == (
        14,
        None,
        3,
    )
    for flips, limit in product(range(6), (TENTH, Fraction(1, 3), Fraction(9, 10))):
        pairs = pairs_to_open(flips, limit)
        assert pairs is not None
        assert upper_bound(flips, pairs) <= limit
        assert pairs - 1 <= flips or upper_bound(flips, pairs - 1) > limit
        assert flips or pairs == clean_pairs_needed(limit)


def test_the_prior_is_named() -> None:
    assert [round(posterior_within(k, 12, 0.1), 3) for k in range(4)] == [0.746, 0.379, 0.134, 0.034]
    assert [round(posterior_within(k, 12, 0.1, "Jeffreys"), 3) for k in range(4)] == [0.892, 0.520, 0.203, 0.056]
    for k, n, limit in ((0, 0, 0.3), (3, 9, 0.2), (9, 9, 0.99)):
        expected = scipy_stats.beta.cdf(limit, k + 0.5, n - k + 0.5)
        assert posterior_within(k, n, limit, "Jeffreys") == CLOSE(expected, abs=1e-12)
    assert posterior_within(0, 0, 0.3) == CLOSE(0.3)


@pytest.mark.parametrize(
    ("probability", "unseen"),
    [
        ("1/20", ["0.90", "0.86", "0.77", "0.60"]),
        ("1/10", ["0.81", "0.73", "0.59", "0.35"]),
        ("1/5", ["0.64", "0.51", "0.33", "0.11"]),
        ("1/3", ["0.44", "0.30", "0.13", "0.02"]),
        ("1/2", ["0.25", "0.12", "0.03", "0.00"]),
    ],
)
def test_table_of_flakes_unseen(probability: str, unseen: list[str]) -> None:
    assert [f"{float(escape(Fraction(probability), runs)):.2f}" for runs in (2, 3, 5, 10)] == unseen


# Stopping


def test_expected_pairs_until_the_gate_is_decided() -> None:
    rates = (0, 0.1, 0.2, 0.3, 0.5)
    assert [round(expected_pairs_until_decided(12, TENTH, rate), 1) for rate in rates] == [11.0, 10.3, 8.2, 6.3, 4.0]
    assert [round(expected_pairs_until_decided(24, TENTH, rate), 1) for rate in rates] == [22.0, 20.2, 14.2, 9.9, 6.0]


@pytest.mark.parametrize("limit", [Fraction(0), TENTH, Fraction(1, 3), Fraction(1)])
def test_expected_pairs_equal_the_enumeration_of_all_runs(limit: Fraction) -> None:
    for planned in range(1, 9):
        mean = 0.0
        for sequence in product((0, 1), repeat=planned):
            done = 0
            while {"open", "shut"} <= verdicts_possible(done, sum(sequence[:done]), 0, planned, 0, limit):
                done += 1
            mean += done * 0.3 ** sum(sequence) * 0.7 ** (planned - sum(sequence))
        assert expected_pairs_until_decided(planned, limit, 0.3) == CLOSE(mean, abs=1e-12)


def test_a_sequential_test_of_5_against_20_per_cent() -> None:
    plan = sequential_plan(0.05, 0.20)
    assert (plan.clean_to_accept, round(plan.mean_at_low, 1), round(plan.mean_at_high, 1)) == (18, 30.6, 22.6)


def test_a_sequential_test_in_simulation() -> None:
    plan, draw = sequential_plan(0.1, 0.5), random.Random(2)
    lengths = []
    for _ in range(4000):
        flips = done = 0
        while -2.944439 < flips * 1.6094379 - (done - flips) * 0.5877867 < 2.944439:
            flips += draw.random() < 0.1
            done += 1
        lengths.append(done)
    assert sum(lengths) / 4000 == CLOSE(plan.mean_at_low, abs=0.3)
