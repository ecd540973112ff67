"""Agreement, pass@k and the two errors: against krippendorff, statsmodels, enumeration and published figures."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, pairwise

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_cohen
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tui_bench.analysis.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from tui_bench.analysis.stats.clustered import clustered_se
from tui_bench.analysis.stats.pass_k import PassPoint, pass_at, pass_points
from tui_bench.analysis.stats.repeats import pass_hat, within_disagreement
from tui_bench.analysis.stats.two_errors import two_errors

CLOSE = pytest.approx
PROPERTY = settings(database=None, deadline=None, derandomize=True, max_examples=80)
CELL = st.integers(0, 6).flatmap(lambda attempts: st.tuples(st.integers(0, attempts), st.just(attempts)))
CELLS = st.lists(CELL, max_size=12)


def counts(draw: random.Random, units: int, categories: int, ratings: int) -> list[list[int]]:
    rows = []
    for _ in range(units):
        given_ = [draw.randrange(categories) for _ in range(ratings)]
        rows.append([given_.count(category) for category in range(categories)])
    return rows


def test_kappas_and_alpha_against_other_packages() -> None:
    draw = random.Random(4)
    for _ in range(40):
        categories, units = draw.randint(2, 4), draw.randint(3, 12)
        table = counts(draw, units, categories, draw.randint(2, 6))
        kappa, alpha = fleiss_kappa(table), krippendorff_alpha(table)
        assert kappa is not None
        assert alpha is not None
        assert float(kappa) == CLOSE(statsmodels_fleiss(np.array(table)), abs=1e-12)
        ragged = [counts(draw, 1, categories, draw.randint(0, 5))[0] for _ in range(units)] + table[:2]
        expected = krippendorff.alpha(value_counts=np.array(ragged), level_of_measurement="nominal")
        found = krippendorff_alpha(ragged)
        assert found is not None
        assert float(found) == CLOSE(expected, abs=1e-12)
        square = [[draw.randint(0, 9) + (i == 0) for i in range(categories)] for _ in range(categories)]
        cohen = cohen_kappa(square)
        assert cohen is not None
        assert float(cohen) == CLOSE(statsmodels_cohen(np.array(square)).kappa, abs=1e-12)


@pytest.mark.parametrize("table", [[[3, 0], [3, 0]], [[0, 2]], []])
def test_without_variation_there_is_no_coefficient(table: list[list[int]]) -> None:
    assert fleiss_kappa(table) is None
    assert krippendorff_alpha(table) is None


def test_degenerate_agreement() -> None:
    assert cohen_kappa([[7, 0], [0, 0]]) is None
    assert cohen_kappa([]) is None
    assert cohen_kappa([[5, 0], [0, 4]]) == 1
    assert cohen_kappa([[0, 5], [5, 0]]) == -1
    assert cohen_kappa([[2, 2], [2, 2]]) == 0
    assert krippendorff_alpha([[1, 0], [0, 1]]) is None
    assert krippendorff_alpha([[3, 0], [0, 2]]) == fleiss_kappa([[2, 0], [0, 2]]) == 1


@PROPERTY
@given(st.lists(st.integers(0, 4), min_size=2, max_size=15))
def test_agreement_ignores_the_names_of_the_categories_and_is_at_most_one(passes: list[int]) -> None:
    table = [[count, 4 - count] for count in passes]
    kappa, alpha = fleiss_kappa(table), krippendorff_alpha(table)
    mirrored = [row[::-1] for row in table]
    assert (kappa, alpha) == (fleiss_kappa(mirrored), krippendorff_alpha(mirrored))
    if kappa is None or alpha is None:
        assert len(set(passes)) == 1
        assert passes[0] in (0, 4)
        return
    # The small-sample correction is all that lies between the two.
    assert 1 - alpha == (1 - kappa) * (1 - Fraction(1, 4 * len(passes)))
    assert kappa <= alpha <= 1
    assert (kappa == 1) == (set(passes) <= {0, 4})


def test_pass_at_and_pass_hat_equal_the_enumeration_of_all_draws() -> None:
    for attempts in range(1, 7):
        for passes in range(attempts + 1):
            flags = [True] * passes + [False] * (attempts - passes)
            for k in range(1, attempts + 1):
                draws = list(combinations(flags, k))
                assert pass_at(passes, attempts, k) == Fraction(sum(map(any, draws)), len(draws))
                assert pass_hat(passes, attempts, k) == Fraction(sum(map(all, draws)), len(draws))


def test_more_attempts_than_were_made_have_no_value_and_never_one() -> None:
    assert (pass_at(3, 3, 4), pass_hat(3, 3, 4), pass_at(0, 0, 1)) == (None, None, None)
    points = pass_points([(3, 3), (2, 2), (0, 3)], (1, 2, 3))
    assert points[1] == PassPoint(2, Fraction(2, 3), Fraction(2, 3), 0)
    assert points[2] == PassPoint(3, None, None, 1)
    assert pass_points([], (1,)) == (PassPoint(1, None, None, 0),)


@PROPERTY
@given(CELLS)
def test_pass_points_are_ordered_and_give_the_disagreement(cells: list[tuple[int, int]]) -> None:
    points = [point for point in pass_points(cells, range(1, 7)) if point.at is not None and point.hat is not None]
    for first, second in pairwise(points):
        assert first.at is not None
        assert second.at is not None
        assert first.hat is not None
        assert second.hat is not None
        assert 0 <= second.hat <= first.hat <= first.at <= second.at <= 1
    if len(points) >= 2 and points[0].hat is not None and points[1].hat is not None:
        assert within_disagreement(cells) == 2 * (points[0].hat - points[1].hat)
    assert all((point.at is None) == (point.short > 0 or not cells) for point in pass_points(cells, range(1, 7)))


def test_the_published_airline_runs_have_two_errors_and_neither_is_the_naive_one() -> None:
    cells = [(c, 4) for c, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]
    found = two_errors(cells)
    assert found is not None
    assert (found.mean, found.tasks, found.attempts) == (Fraction(21, 50), 50, 200)
    assert (found.rerun, found.new_task) == (CLOSE(0.027, abs=0.0005), CLOSE(0.052, abs=0.0005))
    assert math.sqrt(0.42 * 0.58 / 200) == CLOSE(0.035, abs=0.0005)


def test_in_balanced_data_the_new_task_error_is_that_of_all_attempts_by_task() -> None:
    draw = random.Random(6)
    for _ in range(20):
        attempts = draw.randint(1, 5)
        cells = [(draw.randint(0, attempts), attempts) for _ in range(draw.randint(2, 15))]
        groups = [[1.0] * passes + [0.0] * (attempts - passes) for passes, _ in cells]
        found = two_errors(cells)
        assert found is not None
        assert found.new_task == CLOSE(clustered_se(groups), abs=1e-14)
        values = np.array([value for group in groups for value in group])
        names = np.repeat(np.arange(len(groups)), attempts)
        fitted = OLS(values, np.ones(len(values))).fit(
            cov_type="cluster", cov_kwds={"groups": names, "use_correction": False}
        )
        correction = math.sqrt(len(groups) / (len(groups) - 1))
        assert found.new_task == CLOSE(float(fitted.bse[0]) * correction, abs=1e-12)


def test_the_rerun_error_is_what_repeating_the_attempts_would_show() -> None:
    """Its square is unbiased: mean over all outcomes of two tasks with rates 1/4 and 2/3 and 2 and 3 attempts."""
    (p, r), (q, s) = (Fraction(1, 4), 2), (Fraction(2, 3), 3)
    mean = 0.0
    for a in range(r + 1):
        for b in range(s + 1):
            chance = math.comb(r, a) * p**a * (1 - p) ** (r - a) * math.comb(s, b) * q**b * (1 - q) ** (s - b)
            found = two_errors([(a, r), (b, s)])
            assert found is not None
            assert found.rerun is not None
            mean += float(chance) * found.rerun**2
    assert mean == CLOSE(float((p * (1 - p) / r + q * (1 - q) / s) / 4), abs=1e-15)


def test_what_was_not_measured_has_no_error() -> None:
    assert two_errors([]) is None
    assert two_errors([(0, 0)]) is None
    one = two_errors([(1, 2), (0, 0)])
    assert one is not None
    assert (one.new_task, one.tasks, one.unmeasured, one.rerun) == (None, 1, 1, CLOSE(0.5))
    alike = two_errors([(1, 3)] * 7)
    assert alike is not None
    assert alike.new_task == 0
    mixed = two_errors([(1, 2), (1, 1), (0, 1)])
    assert mixed is not None
    assert (mixed.rerun, mixed.single) == (None, 2)


@PROPERTY
@given(CELLS, st.integers(2, 4))
def test_more_attempts_of_the_same_rate_shrink_the_rerun_error_alone(cells: list[tuple[int, int]], times: int) -> None:
    found, more = two_errors(cells), two_errors([(times * a, times * r) for a, r in cells])
    if found is None or more is None:
        assert not any(r for _, r in cells)
        return
    assert 0 <= found.mean <= 1
    assert (found.mean, found.new_task) == (more.mean, more.new_task)
    if found.rerun is not None:
        assert more.rerun is not None
        assert more.rerun <= found.rerun <= 0.5
