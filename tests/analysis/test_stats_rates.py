"""Counts against a published rate and against other counts: scipy, statsmodels and worked figures."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportions_ztest

from tui_bench.analysis.stats.rates_compared import against_rate, two_rates

CLOSE = pytest.approx
PROPERTY = settings(database=None, deadline=None, derandomize=True, max_examples=80)
COUNTED = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_x1_19_twenty_five_points_of_twenty_tasks_are_no_proof() -> None:
    found = two_rates(15, 20, 10, 20)
    assert (found.difference, found.z, found.p) == (Fraction(1, 4), CLOSE(1.63, abs=0.005), CLOSE(0.10, abs=0.005))
    assert float(found.exact) == CLOSE(0.19, abs=0.005)
    assert against_rate(15, 20, Fraction(1, 2)).p == CLOSE(0.025, abs=0.0005)
    assert float(against_rate(8, 20, Fraction("0.74")).exact) == CLOSE(0.001, abs=0.0005)


def test_against_scipy_and_statsmodels() -> None:
    draw = random.Random(15)
    for _ in range(60):
        n, m = draw.randint(1, 60), draw.randint(1, 60)
        x, y = draw.randint(0, n), draw.randint(0, m)
        rate = Fraction(draw.randint(0, 100), 100)
        one = against_rate(x, n, rate)
        assert float(one.exact) == CLOSE(scipy_stats.binomtest(x, n, float(rate)).pvalue, abs=1e-10)
        two = two_rates(x, n, y, m)
        assert float(two.exact) == CLOSE(scipy_stats.fisher_exact([[x, n - x], [y, m - y]]).pvalue, abs=1e-10)
        if two.z is not None:
            assert (two.z, two.p) == CLOSE(proportions_ztest([x, y], [n, m]), abs=1e-12)
        if one.z is not None:
            assert (one.z, one.p) == CLOSE(proportions_ztest(x, n, float(rate), prop_var=float(rate)), abs=1e-12)


@PROPERTY
@given(COUNTED, COUNTED)
def test_comparisons_turn_with_their_sides_and_with_pass_and_fail(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    (x, n), (y, m) = first, second
    found, turned, failed = two_rates(x, n, y, m), two_rates(y, m, x, n), two_rates(n - x, n, m - y, m)
    assert found.difference == -turned.difference == -failed.difference
    assert found.exact == turned.exact == failed.exact
    assert 0 < found.exact <= 1
    rate = Fraction(y, m)
    assert against_rate(x, n, rate).exact == against_rate(n - x, n, 1 - rate).exact
    assert (found.z is None) == (x + y in (0, n + m))


def test_rates_without_variance_have_no_normal_test() -> None:
    same = two_rates(5, 5, 7, 7)
    assert (same.difference, same.exact, same.z, same.p) == (0, 1, None, None)
    impossible = against_rate(4, 5, Fraction(1))
    assert (impossible.exact, impossible.z, against_rate(5, 5, Fraction(1)).exact) == (0, None, 1)


def test_counts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="5 of 4"):
        two_rates(1, 2, 5, 4)
    with pytest.raises(ValueError, match="0 of 0"):
        against_rate(0, 0, Fraction(1, 2))
    with pytest.raises(ValueError, match="published rate"):
        against_rate(0, 1, Fraction(3, 2))
