"""Paired differences: intervals, tests, evidence; against definitions, scipy and each other."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from tui_bench.analysis.stats.gate_e_process import clean_pairs_to_open, flips_to_shut, gate_evidence
from tui_bench.analysis.stats.mcnemar_chi2 import mcnemar_chi2
from tui_bench.analysis.stats.net import net_difference
from tui_bench.analysis.stats.paired import cochran_q, mcnemar_exact, mcnemar_midp
from tui_bench.analysis.stats.paired_interval import newcombe10, tango
from tui_bench.analysis.stats.paired_report import paired_report
from tui_bench.analysis.stats.sign_e_value import (
    false_stop_probability,
    sign_e_value,
    wins_to_stop,
    wins_to_stop_of,
)

TENTH = Fraction(1, 10)
CLOSE = pytest.approx
PROPERTY = settings(database=None, deadline=None, derandomize=True, max_examples=60)
COUNT = st.integers(0, 40)


# Intervals


def _likeliest(d: float, b: int, c: int, n: int) -> float:
    """The share of only_b pairs that maximises the trinomial likelihood at a difference d, by numeric search."""

    def log_likelihood(q: float) -> float:
        shares = ((q + d, b), (q, c), (1 - 2 * q - d, n - b - c))
        return -sum(count * math.log(max(share, 1e-300)) for share, count in shares if count)

    found = optimize.minimize_scalar(
        log_likelihood, bounds=(max(0.0, -d), (1 - d) / 2), method="bounded", options={"xatol": 1e-13}
    )
    return float(found.x)


def test_tango_limits_lie_where_the_score_equals_the_normal_quantile() -> None:
    draw = random.Random(3)
    for _ in range(40):
        n = draw.randint(4, 120)
        b = draw.randint(0, n)
        c = draw.randint(0, n - b)
        conf = draw.choice([0.8, 0.9, 0.95, 0.99])
        z = scipy_stats.norm.ppf(0.5 + conf / 2)
        for limit in tango(b, c, n, conf):
            if abs(limit) < 1:
                variance = n * (2 * _likeliest(limit, b, c, n) + limit * (1 - limit))
                assert abs(b - c - n * limit) / math.sqrt(variance) == CLOSE(z, abs=1e-4)


def test_tango_at_the_edges() -> None:
    z2 = scipy_stats.norm.ppf(0.975) ** 2
    assert tango(0, 0, 22) == CLOSE((-z2 / (22 + z2), z2 / (22 + z2)), abs=1e-12)
    assert tango(12, 0, 12)[1] == 1.0
    assert tango(0, 12, 12)[0] == -1.0
    assert tango(12, 0, 12)[0] == CLOSE(1 - 2 * z2 / (12 + z2), abs=0.2)


def test_newcombe_does_not_collapse_where_all_verdicts_agree() -> None:
    """Without the correction phi would be 1 here and the interval one point."""
    low, high = newcombe10(1, 0, 0, 1)
    assert low == -high
    assert high > 0.5
    independent = newcombe10(12, 0, 0, 0)
    assert independent == CLOSE((-0.2424940, 0.2424940), abs=1e-6)


@PROPERTY
@given(COUNT, COUNT, COUNT, COUNT)
def test_intervals_are_mirrored_hold_the_estimate_and_stay_in_bounds(a: int, b: int, c: int, d: int) -> None:
    n = a + b + c + d
    if n == 0:
        return
    for low, high in (newcombe10(a, b, c, d), tango(b, c, n)):
        assert -1 <= low <= (b - c) / n + 1e-12
        assert (b - c) / n - 1e-12 <= high <= 1
    assert tango(b, c, n) == CLOSE([-limit for limit in reversed(tango(c, b, n))], abs=1e-12)
    assert newcombe10(a, b, c, d) == CLOSE([-limit for limit in reversed(newcombe10(a, c, b, d))], abs=1e-12)
    assert newcombe10(a, b, c, d) == CLOSE([-limit for limit in reversed(newcombe10(d, c, b, a))], abs=1e-12)
    wide, narrow = tango(b, c, n, 0.99), tango(b, c, n, 0.8)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@pytest.mark.parametrize(("b", "c", "rest"), [(0, 0, 6), (1, 0, 5), (2, 1, 3), (4, 1, 1)])
def test_intervals_narrow_as_pairs_of_the_same_kind_are_added(b: int, c: int, rest: int) -> None:
    widths = [high - low for low, high in (tango(k * b, k * c, k * (b + c + rest)) for k in range(1, 12))]
    assert widths == sorted(widths, reverse=True)


def _chances(n: int, only_a: float, only_b: float) -> list[tuple[int, int, float]]:
    return [
        (b, c, float(scipy_stats.multinomial.pmf([b, c, n - b - c], n, [only_a, only_b, 1 - only_a - only_b])))
        for b in range(n + 1)
        for c in range(n + 1 - b)
    ]


@pytest.mark.parametrize("n", [12, 24])
def test_tango_covers_the_true_difference_of_few_tasks(n: int) -> None:
    """Exact enumeration over discordances 0.1 to 0.5 and gaps up to 0.3; Wald's interval falls to 0.69 here."""
    limits = {(b, c): tango(b, c, n) for b in range(n + 1) for c in range(n + 1 - b)}
    covered = []
    for discordance, gap in product((0.1, 0.2, 0.3, 0.4, 0.5), (0.0, 0.1, 0.2, 0.3)):
        if gap <= discordance:
            table = _chances(n, (discordance + gap) / 2, (discordance - gap) / 2)
            inside = [chance for b, c, chance in table if limits[b, c][0] - 1e-9 <= gap <= limits[b, c][1] + 1e-9]
            covered.append(sum(inside))
    assert len(covered) == 17
    assert min(covered) >= 0.948
    assert sum(covered) / 17 >= 0.96


@pytest.mark.parametrize(
    ("n", "against_midp", "against_exact"),
    [(12, {(4, 0)}, 4), (24, {(4, 0), (15, 6)}, 10), (50, {(4, 0), (15, 6), (18, 8), (21, 10)}, 23)],
)
def test_splits_where_the_tests_and_the_interval_disagree(
    n: int, against_midp: set[tuple[int, int]], against_exact: int
) -> None:
    splits = [(b, c) for b in range(n + 1) for c in range(min(b, n - b) + 1)]
    excluded = {split for split in splits if tango(*split, n)[0] > 0}
    by_midp = {split for split in splits if mcnemar_midp(*split) <= Fraction(1, 20)}
    by_exact = {split for split in splits if mcnemar_exact(*split) <= Fraction(1, 20)}
    assert excluded ^ by_midp == against_midp
    assert len(excluded ^ by_exact) == against_exact


# Tests of pairs


def test_chi_square_against_statsmodels() -> None:
    draw = random.Random(1)
    for _ in range(30):
        b, c = draw.randint(0, 40), draw.randint(1, 40)
        found = mcnemar_chi2(b, c)
        assert found is not None
        plain = statsmodels_mcnemar([[1, b], [c, 1]], exact=False, correction=False)
        assert (float(found.chi2), found.p) == CLOSE((plain.statistic, plain.pvalue), abs=1e-10)
        if b != c:
            corrected = statsmodels_mcnemar([[1, b], [c, 1]], exact=False, correction=True)
            assert (float(found.chi2_corrected), found.p_corrected) == CLOSE(
                (corrected.statistic, corrected.pvalue), abs=1e-10
            )
    assert mcnemar_chi2(0, 0) is None
    equal = mcnemar_chi2(4, 4)
    assert equal is not None
    assert (equal.p, equal.chi2_corrected, equal.p_corrected) == (1.0, 0, 1.0)


def test_the_report_names_the_borderline() -> None:
    near_miss = paired_report(16, 6, 139)
    assert near_miss is not None
    assert (near_miss.significant, near_miss.borderline) == (True, True)
    assert near_miss.ci == CLOSE((0.0054334, 0.1240234), abs=1e-6)
    clear = paired_report(20, 2, 10)
    assert clear is not None
    assert (clear.significant, clear.borderline) == (True, False)
    nothing = paired_report(0, 0, 22)
    assert nothing is not None
    assert (nothing.mid_p, nothing.exact, nothing.e_value, nothing.borderline) == (1, 1, 1, False)
    assert paired_report(0, 0, 0, 24) is None


@PROPERTY
@given(COUNT, COUNT, COUNT, COUNT)
def test_reports_are_mirrored_and_void_enters_nothing(only_a: int, only_b: int, ties: int, void: int) -> None:
    here, there = paired_report(only_a, only_b, ties, void), paired_report(only_b, only_a, ties)
    if here is None or there is None:
        assert only_a + only_b + ties == 0
        return
    assert here.diff == -there.diff
    assert (here.mid_p, here.exact, here.e_value, here.discordance) == (
        there.mid_p,
        there.exact,
        there.e_value,
        there.discordance,
    )
    assert 0 < here.mid_p <= here.exact <= 1
    assert here.significant == (here.mid_p <= Fraction(1, 20))


def test_cochran_below_24_boxes_equals_the_enumeration_of_all_patterns() -> None:
    draw = random.Random(12)
    seen = 0
    while seen < 25:
        width = draw.randint(2, 5)
        rows = [[draw.random() < 0.5 for _ in range(width)] for _ in range(draw.randint(1, 6))]
        discordant = [row for row in rows if 0 < sum(row) < width]
        found = cochran_q(rows)
        if found is None or len(discordant) * width >= 24:
            assert found is None or not found.exact
            continue
        patterns = [list(combinations(range(width), sum(row))) for row in discordant]
        spreads = []
        for choice in product(*patterns):
            columns = [sum(j in chosen for chosen in choice) for j in range(width)]
            spreads.append(sum(count * count for count in columns))
        own = sum(sum(row[j] for row in discordant) ** 2 for j in range(width))
        assert found.exact
        assert found.p == CLOSE(sum(spread >= own for spread in spreads) / len(spreads), abs=1e-12)
        seen += 1


def test_cochran_of_two_boxes_is_the_exact_mcnemar_test() -> None:
    rows = [[True, False]] * 6 + [[False, True]] + [[True, True]] * 9
    found = cochran_q(rows)
    assert found is not None
    assert (found.exact, found.p) == (True, CLOSE(float(mcnemar_exact(6, 1)), abs=1e-15))


# Direction with repeated attempts


def test_net_difference_equals_the_enumeration_of_all_labels() -> None:
    draw = random.Random(8)
    for _ in range(15):
        sizes = [(draw.randint(1, 3), draw.randint(1, 3)) for _ in range(3)]
        tasks = [(draw.randint(0, r), r, draw.randint(0, s), s) for r, s in sizes]
        options = []
        for a, r, b, s in tasks:
            verdicts = [1] * (a + b) + [0] * (r + s - a - b)
            choices = [sum(verdicts[i] for i in chosen) for chosen in combinations(range(r + s), r)]
            options.append([Fraction(first, r) - Fraction(a + b - first, s) for first in choices])
        own = sum((Fraction(a, r) - Fraction(b, s) for a, r, b, s in tasks), Fraction(0))
        sums = [abs(sum(scores, Fraction(0))) for scores in product(*options)]
        found = net_difference(tasks)
        assert found is not None
        assert found.p_exact == Fraction(sum(total >= abs(own) for total in sums), len(sums))
        assert (found.difference, found.p) == (own / 3, float(found.p_exact))


def test_net_difference_of_one_task_is_fishers_exact_test() -> None:
    for a, b in product(range(7), repeat=2):
        found = net_difference([(a, 6, b, 6)])
        assert found is not None
        assert found.p == CLOSE(scipy_stats.fisher_exact([[a, 6 - a], [b, 6 - b]]).pvalue, abs=1e-12)


def test_broken_and_repaired_tasks_cancel_in_the_net_difference() -> None:
    found = net_difference([(3, 3, 0, 3)] * 2 + [(0, 3, 3, 3)] * 2 + [(3, 3, 3, 3)] * 8)
    assert found is not None
    assert (found.difference, found.p, found.tasks) == (0, 1.0, 12)
    broken = net_difference([(3, 3, 0, 3)] * 2 + [(3, 3, 3, 3)] * 10)
    assert broken is not None
    assert (broken.difference, broken.p_exact) == (Fraction(1, 6), Fraction(2, 400))


def test_net_difference_leaves_out_what_was_not_run_and_says_when_it_is_rough() -> None:
    assert net_difference([(0, 0, 2, 2), (1, 3, 0, 0)]) is None
    draw = random.Random(2)
    tasks = [(draw.randint(0, 3), 3, draw.randint(0, 3), 3) for _ in range(150)]
    exact, rough = net_difference(tasks), net_difference(tasks, work_at_most=0)
    assert exact is not None
    assert rough is not None
    assert exact.p_exact is not None
    assert rough.p_exact is None
    assert rough.p == CLOSE(exact.p, abs=0.01)


# Evidence at any time


def test_where_the_sign_e_value_stops() -> None:
    assert [wins_to_stop_of(pairs) for pairs in (7, 8, 12, 20, 30)] == [None, 8, 11, 17, 24]
    assert wins_to_stop(0) == 8
    assert sign_e_value(8, 0) >= 20 > sign_e_value(7, 0)
    assert float(false_stop_probability(40)) == CLOSE(0.021, abs=0.0005)
    assert float(false_stop_probability(100)) == CLOSE(0.028, abs=0.0005)


@pytest.mark.parametrize("pairs", [0, 1, 7, 8, 9, 11])
def test_false_stops_equal_the_enumeration_of_all_sequences(pairs: int) -> None:
    stopped = 0
    for sequence in product((0, 1), repeat=pairs):
        heads = [sum(sequence[:done]) for done in range(pairs + 1)]
        stopped += any(sign_e_value(wins, done - wins) >= 20 for done, wins in enumerate(heads))
    assert false_stop_probability(pairs) == Fraction(stopped, 2**pairs)


@PROPERTY
@given(COUNT, COUNT)
def test_the_sign_e_value_is_its_factorial_formula_symmetric_and_never_gains_on_average(a: int, b: int) -> None:
    m = a + b
    value = sign_e_value(a, b)
    assert value == Fraction(2**m * math.factorial(a) * math.factorial(b), math.factorial(m + 1))
    assert value == sign_e_value(b, a)
    assert (sign_e_value(a + 1, b) + sign_e_value(a, b + 1)) / 2 == value
    assert sign_e_value(wins_to_stop(b), b) >= 20
    assert wins_to_stop(b + 1) > wins_to_stop(b)


def test_evidence_about_a_gate_of_one_tenth() -> None:
    assert clean_pairs_to_open(TENTH) == 37
    assert flips_to_shut(12, TENTH) == 5
    assert flips_to_shut(1, TENTH) is None
    one = gate_evidence(0, 1, TENTH)
    assert (one.open, one.shut) == (Fraction(146, 135), Fraction(20, 27))
    assert gate_evidence(1, 1, TENTH).shut == Fraction(2 + 3 + 5, 3)


@PROPERTY
@given(st.integers(0, 14), st.sampled_from(["1/20", "1/10", "1/4", "9/10"]), st.integers(0, 10))
def test_gate_evidence_never_gains_on_average_where_its_claim_is_false(pairs: int, text: str, step: int) -> None:
    limit = Fraction(text)
    for rate in (limit, limit + (1 - limit) * Fraction(step, 10), limit * Fraction(step, 10)):
        chances = [math.comb(pairs, k) * rate**k * (1 - rate) ** (pairs - k) for k in range(pairs + 1)]
        found = [gate_evidence(k, pairs, limit) for k in range(pairs + 1)]
        if rate >= limit:
            assert sum(chance * one.open for chance, one in zip(chances, found, strict=True)) <= 1
        if rate <= limit:
            assert sum(chance * one.shut for chance, one in zip(chances, found, strict=True)) <= 1
