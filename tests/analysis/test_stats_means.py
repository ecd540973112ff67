"""Means over tasks, ratios, and whose share of the variation it is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tui_bench.analysis.stats.bootstrap import bootstrap_ratio
from tui_bench.analysis.stats.clustered import clustered_se, t_quantile
from tui_bench.analysis.stats.components import VarianceComponents, variance_components
from tui_bench.analysis.stats.gap_split import CrossedTask, gap_split
from tui_bench.analysis.stats.task_means import task_mean

CLOSE = pytest.approx
PROPERTY = settings(database=None, deadline=None, derandomize=True, max_examples=60)
NAMES = ("task", "env", "agent")
Row = tuple[tuple[str, ...], bool]


# Means of task values


def test_t_quantiles_and_intervals_against_scipy() -> None:
    draw = random.Random(10)
    for _ in range(60):
        freedom, conf = draw.randint(1, 300), draw.uniform(0.5, 0.999)
        assert t_quantile(conf, freedom) == CLOSE(scipy_stats.t.ppf(0.5 + conf / 2, freedom), rel=1e-9)
        values = [Fraction(draw.randint(-3, 3), 3) for _ in range(draw.randint(3, 30))]
        found = task_mean(values, conf=0.9, bounds=(-9, 9))
        if found.ci is None:
            assert len(set(values)) == 1
            continue
        expected = scipy_stats.ttest_1samp([float(value) for value in values], 0).confidence_interval(0.9)
        assert found.ci == CLOSE((expected.low, expected.high), abs=1e-12)


def test_clusters_are_the_unit_from_six_on() -> None:
    values = [Fraction(i % 2) for i in range(14)]
    five = task_mean(values, [f"c{i % 5}" for i in range(14)])
    seven = task_mean(values, [f"c{i // 2}" for i in range(14)])
    other = task_mean([Fraction(i < 5) for i in range(14)], [f"c{i // 2}" for i in range(14)])
    assert (five.unit, five.groups, five.ci) == ("tasks", 14, task_mean(values).ci)
    assert (other.unit, other.groups, other.tasks) == ("clusters", 7, 14)
    assert other.se == CLOSE(clustered_se([[1, 1], [1, 1], [1, 0], *[[0, 0]] * 4]))
    half = scipy_stats.t.ppf(0.975, 6) * (other.se or 0)
    assert other.ci == CLOSE((max(-1, 5 / 14 - half), 5 / 14 + half), abs=1e-9)
    # Every cluster has one pass and one failure: no spread was seen between clusters, so nothing can be said.
    assert (seven.unit, seven.se, seven.ci) == ("clusters", None, None)


def test_no_spread_and_one_task_have_no_interval() -> None:
    third = Fraction(1, 3)
    assert task_mean([third] * 7).ci is None
    assert task_mean([third] * 7).mean == third
    assert task_mean([third]).se is None
    cut = task_mean([Fraction(1), Fraction(0)])
    assert cut.ci == (-1.0, 1.0)


# Ratios


def test_bootstrap_is_the_same_again_and_holds_the_ratio() -> None:
    draw = random.Random(3)
    tasks = [(draw.uniform(100, 900), draw.randint(0, 3)) for _ in range(30)]
    first, second = bootstrap_ratio(tasks), bootstrap_ratio(tasks)
    assert first is not None
    assert first == second
    assert first.ratio == sum(task[0] for task in tasks) / sum(task[1] for task in tasks)
    assert first.ci[0] < first.ratio < first.ci[1]
    narrow = bootstrap_ratio(tasks, conf=0.5)
    other = bootstrap_ratio(tasks, seed=1)
    assert narrow is not None
    assert other is not None
    assert first.ci[0] < narrow.ci[0] < narrow.ci[1] < first.ci[1]
    assert other.ci != first.ci
    assert other.ci == CLOSE(first.ci, rel=0.1)


def test_bootstrap_limits_are_the_same_rank_from_either_end() -> None:
    draw = random.Random(8)
    values = [draw.random() for _ in range(15)]
    for draws, conf in ((39, 0.95), (1999, 0.9)):
        here = bootstrap_ratio([(value, 1) for value in values], conf, draws=draws)
        there = bootstrap_ratio([(1 - value, 1) for value in values], conf, draws=draws)
        assert here is not None
        assert there is not None
        assert here.ci == CLOSE((1 - there.ci[1], 1 - there.ci[0]), abs=1e-12)


def test_bootstrap_of_a_mean_is_close_to_the_normal_interval_with_many_tasks() -> None:
    draw = random.Random(5)
    values = [draw.gauss(50, 10) for _ in range(200)]
    found = bootstrap_ratio([(value, 1) for value in values])
    assert found is not None
    half = 1.96 * scipy_stats.sem(values)
    assert found.ci == CLOSE((found.ratio - half, found.ratio + half), abs=0.2)


def test_a_ratio_that_may_divide_by_nothing_has_no_upper_limit() -> None:
    found = bootstrap_ratio([(100, 1), *[(50, 0)] * 9])
    assert found is not None
    assert found.ratio == 550
    assert found.ci[1] == float("inf")
    # A resample misses the one solved task with probability 0.9^10.
    assert found.empty / found.draws == CLOSE(0.9**10, abs=0.04)
    assert bootstrap_ratio([(100, 0), (50, 0)]) is None
    assert bootstrap_ratio([(100, 1)]) is None


# The gap of two agents on two boxes


def cells(text: str) -> CrossedTask:
    a1, a2, b1, b2 = ((int(part[0]), int(part[1])) for part in text.split())
    return CrossedTask(a1, a2, b1, b2)


def test_gap_split_of_a_box_and_of_an_agent() -> None:
    box = gap_split([cells("22 02 22 02"), cells("22 12 22 12"), cells("02 02 02 02")])
    assert box is not None
    assert box.agent is not None
    assert box.box is not None
    assert (box.gap.mean, box.agent.mean, box.box.mean) == (Fraction(1, 2), 0, Fraction(1, 2))
    assert (box.separable, box.agent.ci) == (True, None)
    agent = gap_split([cells("22 22 02 02"), cells("12 12 12 12")])
    assert agent is not None
    assert agent.agent is not None
    assert agent.box is not None
    assert (agent.gap.mean, agent.agent.mean, agent.box.mean) == (Fraction(1, 2), Fraction(1, 2), 0)


def test_the_diagonal_alone_is_not_separable() -> None:
    found = gap_split([cells("23 00 00 13"), cells("33 00 00 03"), cells("33 00 00 00")])
    assert found is not None
    assert (found.gap.mean, found.agent, found.box, found.separable) == (Fraction(2, 3), None, None, False)
    assert found.left_out == 1
    assert gap_split([cells("00 11 11 11")]) is None
    mixed = gap_split([cells("22 02 22 02"), cells("22 00 22 02")])
    assert mixed is not None
    assert (mixed.separable, mixed.left_out, mixed.gap.tasks) == (True, 1, 1)


PART = st.integers(1, 4).flatmap(lambda attempts: st.tuples(st.integers(0, attempts), st.just(attempts)))


@PROPERTY
@given(st.lists(st.builds(CrossedTask, PART, PART, PART, PART), min_size=1, max_size=10))
def test_gap_parts_add_up_exactly_and_swapping_turns_signs(tasks: list[CrossedTask]) -> None:
    found = gap_split(tasks)
    swapped = gap_split([CrossedTask(task.b2, task.b1, task.a2, task.a1) for task in tasks])
    assert found is not None
    assert swapped is not None
    for one, other in ((found, swapped), (swapped, found)):
        assert one.agent is not None
        assert one.box is not None
        assert other.agent is not None
        assert one.gap.mean == one.agent.mean + one.box.mean
        assert one.agent.mean == -other.agent.mean
        assert -1 <= one.box.mean <= 1


# Variance components


def by_pairs(rows: Sequence[Row], varied: Sequence[int]) -> dict[frozenset[int], Fraction | None]:
    """Components by looking at every pair of rows."""
    sums: dict[frozenset[int], tuple[int, int]] = {}
    for (first, passed), (second, also) in combinations(rows, 2):
        key = frozenset(i for i in varied if first[i] == second[i])
        pairs, both = sums.get(key, (0, 0))
        sums[key] = pairs + 1, both + (passed and also)
    found: dict[frozenset[int], Fraction | None] = {}
    for size in range(1, len(varied) + 1):
        for chosen in combinations(varied, size):
            inner = list(chain.from_iterable(combinations(chosen, k) for k in range(size + 1)))
            if all(frozenset(part) in sums for part in inner):
                found[frozenset(chosen)] = sum(
                    (
                        (-1) ** (size - len(part)) * Fraction(sums[frozenset(part)][1], sums[frozenset(part)][0])
                        for part in inner
                    ),
                    Fraction(0),
                )
            else:
                found[frozenset(chosen)] = None
    return found


def made(draw: random.Random, kept: float) -> list[Row]:
    return [
        ((f"t{t}", f"e{e}", f"a{a}"), draw.random() < 0.3 + 0.2 * e)
        for t in range(draw.randint(1, 5))
        for e in range(draw.randint(1, 3))
        for a in range(draw.randint(1, 2))
        for _ in range(draw.randint(1, 3))
        if draw.random() < kept
    ]


def checked(rows: Sequence[Row]) -> VarianceComponents | None:
    found = variance_components(rows, NAMES)
    if found is None:
        assert not rows
        return None
    varied = [i for i in range(3) if len({levels[i] for levels, _ in rows}) > 1]
    expected = by_pairs(rows, varied)
    assert {frozenset(NAMES.index(name) for name in part.factors): part.value for part in found.parts} == expected
    assert set(found.constant) == {NAMES[i] for i in range(3) if i not in varied}
    return found


def test_components_equal_those_of_all_pairs_with_rows_missing_at_random() -> None:
    draw = random.Random(21)
    complete = 0
    for _ in range(80):
        found = checked(made(draw, 0.85))
        if found is None or found.residual is None or found.total is None:
            continue
        values = [part.value for part in found.parts if part.value is not None]
        if len(values) == len(found.parts):
            assert sum(values, Fraction(0)) + found.residual == found.total
            complete += 1
        if bar := found.bar():
            assert sum(share for _, share in bar) == 1
            assert all(share >= 0 for _, share in bar)
    assert complete > 15


def test_a_box_that_breaks_some_tasks_shows_up_with_the_task() -> None:
    rows = [
        ((f"t{t}", env), t >= 6 and not (env == "ci" and t >= 9))
        for t in range(12)
        for env in ("local", "ci")
        for _ in range(2)
    ]
    found = variance_components(rows, ("task", "env"))
    assert found is not None
    env, both = found.part("env"), found.part("env", "task")
    assert env is not None
    assert both is not None
    assert both > env > 0
    assert found.of_factor("env") == env + both
    assert found.residual == 0
    assert (found.levels, found.attempts, found.rough) == (12, 2, True)
    with pytest.raises(ValueError, match="no factor agent"):
        found.of_factor("agent")
    with pytest.raises(ValueError, match="no variance component of agent"):
        found.part("agent")


def test_components_without_variation_or_repetition() -> None:
    assert variance_components([], NAMES) is None
    same = variance_components(
        [((f"t{t}", f"e{e}", "a"), True) for t in range(3) for e in range(2) for _ in "xy"], NAMES
    )
    assert same is not None
    assert (same.total, same.residual, same.bar(), same.constant) == (0, 0, (), ("agent",))
    assert same.of_factor("agent") is None
    single = variance_components([((f"t{t}", f"e{e}", "a"), t > e) for t in range(3) for e in range(2)], NAMES)
    assert single is not None
    assert (single.residual, single.part("task", "env"), single.bar()) == (None, None, ())
    one = variance_components([(("t", "e", "a"), True), (("t", "e", "a"), False)], NAMES)
    assert one is not None
    assert (one.parts, one.total, one.residual) == ((), Fraction(1, 2), Fraction(1, 2))


def test_negative_components_are_nothing_in_the_bar_and_stay_in_the_export() -> None:
    """Two environments whose verdicts are each other's opposite: the task alone varies less than not at all."""
    rows = [((f"t{t}", f"e{e}"), (t + e) % 2 == 0) for t in range(4) for e in range(2) for _ in range(2)]
    found = variance_components(rows, ("task", "env"))
    assert found is not None
    assert found.part("task") == Fraction(-1, 3)
    assert found.bar() == ((("task",), 0), (("env",), 0), (("task", "env"), 1), ((), 0))


def test_a_bar_is_rough_below_24_tasks_of_three_attempts() -> None:
    rows = [((f"t{t}", f"e{e}"), (t + e + k) % 3 == 0) for t in range(24) for e in range(2) for k in range(3)]
    full, fewer, voided = (variance_components(part, ("task", "env")) for part in (rows, rows[6:], rows[1:]))
    assert full is not None
    assert fewer is not None
    assert voided is not None
    assert (full.rough, fewer.rough, voided.rough) == (False, True, True)
