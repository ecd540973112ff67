"""Published and independently computed figures, and scipy and statsmodels over random inputs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product

import pytest
from scipy import stats as scipy_stats
from scipy.special import betainc
from statsmodels.stats.contingency_tables import cochrans_q as statsmodels_q
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from tui_bench.analysis.stats import excess
from tui_bench.analysis.stats.beta import beta_cdf, beta_quantile
from tui_bench.analysis.stats.excess import Task, excess_disagreement
from tui_bench.analysis.stats.paired import chi_square_tail, cochran_q, holm, mcnemar_exact, mcnemar_midp
from tui_bench.analysis.stats.proportion import (
    allowed_flips,
    at_least,
    at_most,
    clean_pairs_needed,
    clopper_pearson,
    conclusive_flips,
    lower_bound,
    normal_quantile,
    opening_probability,
    probability_within,
    standard_error,
    upper_bound,
    wilson,
)
from tui_bench.analysis.stats.repeats import all_agree, escape, pass_hat, runs_to_see, within_disagreement

CLOSE = pytest.approx
TENTH = Fraction(1, 10)


def test_h01_h02_h05_wilson() -> None:
    assert wilson(81, 263) == CLOSE((0.2552885199, 0.366209577), abs=1e-9)
    assert wilson(0, 20) == CLOSE((0.0, 0.1611251581), abs=1e-9)
    assert wilson(0, 20)[0] == 0.0
    assert wilson(20, 20)[1] == 1.0
    assert wilson(10, 20) == CLOSE((0.2992980082, 0.7007019918), abs=1e-9)
    assert standard_error(10, 20) == CLOSE(0.1118033989, abs=1e-9)


def test_h03_h04_clopper_pearson_and_the_bound_of_no_events() -> None:
    assert clopper_pearson(15, 148) == CLOSE((0.05784401008, 0.1616504903), abs=1e-9)
    assert upper_bound(0, 12) == CLOSE(0.2209221919, abs=1e-9)
    assert clean_pairs_needed(TENTH) == 29


def test_h10_cochran() -> None:
    rows = ["1011", "0111", "1110", "0100", "0100", "1010", "0100", "1111", "0100"]
    found = cochran_q([[letter == "1" for letter in row] for row in rows])
    assert found is not None
    assert (found.q, found.df, found.exact) == (Fraction(21, 5), 3, False)
    assert found.p == CLOSE(0.2406618852, abs=1e-9)


def test_h06_h09_mcnemar() -> None:
    assert float(mcnemar_exact(6, 16)) == CLOSE(0.05247879028, abs=1e-10)
    assert float(mcnemar_midp(6, 16)) == CLOSE(0.03468966484, abs=1e-10)
    assert (mcnemar_exact(5, 3), mcnemar_midp(5, 3)) == (Fraction(93, 128), Fraction(65, 128))


def test_h13_pass_hat_and_disagreement() -> None:
    cells = [(c, 4) for c, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]
    means = [sum((pass_hat(c, n, k) or Fraction(0) for c, n in cells), Fraction(0)) / 50 for k in (1, 2, 3, 4)]
    assert means == [Fraction(21, 50), Fraction(41, 150), Fraction(11, 50), Fraction(1, 5)]
    assert within_disagreement(cells) == Fraction(22, 75) == 2 * (means[0] - means[1])
    assert pass_hat(3, 4, 5) is None
    assert within_disagreement([(1, 1)]) is None


def test_h15_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == CLOSE([0.03, 0.06, 0.06, 0.02])


def test_h16_operating_characteristic_and_posterior_of_the_gate() -> None:
    assert allowed_flips(12, TENTH) == 1
    rates = [0, 0.02, 0.05, 0.1, 0.2, 0.3]
    expected = [1.0, 0.9768922479, 0.881640143, 0.6590022518, 0.2748779069, 0.08502504995]
    assert [opening_probability(12, TENTH, rate) for rate in rates] == CLOSE(expected, abs=1e-9)
    posterior = [0.7458134172, 0.3786550197, 0.1338827548, 0.03416072092]
    assert [probability_within(k, 12, 0.1) for k in range(4)] == CLOSE(posterior, abs=1e-9)


def test_h17_excess_disagreement() -> None:
    tasks = [
        (2, 2, 2, 2), (2, 2, 0, 2), (1, 2, 1, 2), (0, 2, 0, 2), (2, 2, 1, 2), (1, 2, 2, 2), (2, 2, 2, 2), (2, 2, 2, 2),
        (0, 2, 0, 2), (0, 2, 1, 2), (2, 2, 2, 2), (1, 2, 0, 2),
    ]  # fmt: skip
    found = excess_disagreement(tasks)
    assert found is not None
    assert (found.between, found.within, found.excess) == (Fraction(7, 24), Fraction(1, 4), Fraction(1, 24))
    assert (found.p_exact, found.tasks, found.exact) == (Fraction(5, 9), 12, True)


def test_h20_flaky_escape() -> None:
    third = Fraction(1, 3)
    assert [float(escape(third, r)) for r in (2, 3, 5, 10)] == CLOSE([0.44444444, 0.29629630, 0.13168724, 0.01734153])
    assert escape(third, 3) == Fraction(8, 27)
    agree = [0.5555555556, 0.3333333333, 0.1358024691, 0.017358465]
    assert [float(all_agree(third, r)) for r in (2, 3, 5, 10)] == CLOSE(agree)
    assert runs_to_see(third) == 8
    assert [runs_to_see(Fraction(p)) for p in ("1/20", "1/10", "1/5", "1/2")] == [59, 29, 14, 5]
    assert (runs_to_see(Fraction(0)), runs_to_see(Fraction(1))) == (None, 1)


@pytest.mark.parametrize(
    ("n", "flips_allowed", "open_up_to", "shut_from"),
    [
        (12, 1, None, 4), (20, 2, None, 5), (24, 2, None, 6), (29, 2, 0, 7), (46, 4, 1, 9), (50, 5, 1, 10),
        (61, 6, 2, 11), (100, 10, 4, 16), (200, 20, 12, 28),
    ],
)  # fmt: skip
def test_conclusive_counts_at_a_gate_of_one_tenth(
    n: int, flips_allowed: int, open_up_to: int | None, shut_from: int
) -> None:
    assert allowed_flips(n, TENTH) == flips_allowed
    opening = [k for k in range(n + 1) if upper_bound(k, n) <= TENTH]
    assert (max(opening) if opening else None) == open_up_to
    assert conclusive_flips(n, TENTH) == shut_from


def test_no_count_is_conclusive_where_even_all_of_n_is_not() -> None:
    assert conclusive_flips(1, Fraction(1, 2)) is None
    assert conclusive_flips(0, TENTH) is None
    assert conclusive_flips(12, Fraction(1)) is None
    assert clean_pairs_needed(Fraction(0)) is None
    assert clean_pairs_needed(Fraction(1)) == 1


def test_against_scipy_over_random_counts() -> None:
    draw = random.Random(20261129)
    for _ in range(150):
        n = draw.randint(1, 400)
        x = draw.randint(0, n)
        conf = draw.choice([0.8, 0.9, 0.95, 0.99])
        rate = draw.random()
        assert wilson(x, n, conf) == CLOSE(proportion_confint(x, n, 1 - conf, "wilson"), abs=1e-10)
        exact = scipy_stats.binomtest(x, n).proportion_ci(conf, "exact")
        assert clopper_pearson(x, n, conf) == CLOSE((exact.low, exact.high), abs=1e-10)
        assert at_least(x, n, rate) == CLOSE(scipy_stats.binom.sf(x - 1, n, rate), abs=1e-11)
        assert at_most(x, n, rate) == CLOSE(scipy_stats.binom.cdf(x, n, rate), abs=1e-11)
        greater = scipy_stats.binomtest(x, n, alternative="greater").proportion_ci(conf, "exact").low
        assert lower_bound(x, n, conf) == CLOSE(greater, abs=1e-10)


def test_beta_and_normal_against_scipy() -> None:
    draw = random.Random(7)
    for _ in range(400):
        a, b, x = draw.uniform(0.1, 300), draw.uniform(0.1, 300), draw.random()
        assert beta_cdf(x, a, b) == CLOSE(betainc(a, b, x), abs=1e-11)
        p = draw.uniform(0.001, 0.999)
        assert normal_quantile(p) == CLOSE(scipy_stats.norm.ppf(p), abs=1e-10)
    for p in (0.0, 1.0):
        assert beta_quantile(p, 2, 3) == CLOSE(p, abs=1e-9)
    for df in range(1, 12):
        for x in (0.0, 0.3, 2.0, 11.0, 60.0):
            assert chi_square_tail(x, df) == CLOSE(scipy_stats.chi2.sf(x, df), abs=1e-12)


def test_mcnemar_holm_and_cochran_against_statsmodels() -> None:
    draw = random.Random(11)
    for _ in range(25):
        b, c = draw.randint(0, 25), draw.randint(0, 25)
        if b + c:
            expected = statsmodels_mcnemar([[3, b], [c, 4]], exact=True).pvalue
            assert float(mcnemar_exact(b, c)) == CLOSE(expected, abs=1e-12)
        values = [draw.random() for _ in range(draw.randint(1, 8))]
        assert holm(values) == CLOSE(list(multipletests(values, method="holm")[1]), abs=1e-12)
        width = draw.randint(2, 5)
        rows = [[draw.random() < 0.6 for _ in range(width)] for _ in range(40)]
        found = cochran_q(rows)
        wanted = statsmodels_q([[int(value) for value in row] for row in rows])
        assert found is not None
        assert (float(found.q), found.p, found.df) == CLOSE((wanted.statistic, wanted.pvalue, wanted.df), abs=1e-9)


def test_cochran_is_undefined_without_a_discordant_task_and_exact_when_small() -> None:
    assert cochran_q([[True, True, True], [False, False, False]]) is None
    assert cochran_q([]) is None
    rows = [[True, False, False], [True, True, False], [True, False, False], [True, False, True]]
    found = cochran_q(rows)
    assert found is not None
    assert found.exact
    assert found.p == CLOSE(_cochran_by_enumeration(rows))
    with pytest.raises(ValueError, match="one length"):
        cochran_q([[True, False], [True]])


def _cochran_by_enumeration(rows: list[list[bool]]) -> float:
    width = len(rows[0])
    seen = _spread(rows)
    options = [
        [[index in chosen for index in range(width)] for chosen in combinations(range(width), sum(row))] for row in rows
    ]
    spreads = [_spread(list(choice)) for choice in product(*options)]
    return sum(spread >= seen for spread in spreads) / len(spreads)


def _spread(rows: list[list[bool]]) -> int:
    """Q grows with the sum of squared column totals and with nothing else, row totals being fixed."""
    return sum(sum(column) ** 2 for column in zip(*rows, strict=True))


def test_excess_p_equals_the_enumeration_of_all_labels() -> None:
    draw = random.Random(5)
    for _ in range(12):
        sizes = [(draw.randint(2, 3), draw.randint(2, 3)) for _ in range(3)]
        tasks = [(draw.randint(0, r), r, draw.randint(0, s), s) for r, s in sizes]
        found = excess_disagreement(tasks)
        assert found is not None
        assert found.p_exact == _excess_by_enumeration(tasks)


def _excess_by_enumeration(tasks: list[Task]) -> Fraction:
    per_task = []
    for a, r, b, s in tasks:
        verdicts = [True] * (a + b) + [False] * (r + s - a - b)
        choices = list(combinations(range(r + s), r))
        per_task.append([_score([verdicts[i] for i in chosen], verdicts, r, s) for chosen in choices])
    seen = sum(
        _score([True] * a + [False] * (r - a), [True] * (a + b) + [False] * (r + s - a - b), r, s)
        for a, r, b, s in tasks
    )
    sums = [sum(scores) for scores in product(*per_task)]
    return Fraction(sum(total >= seen for total in sums), len(sums))


def _score(first: list[bool], everything: list[bool], r: int, s: int) -> Fraction:
    a = sum(first)
    b = sum(everything) - a
    between = Fraction(sum(x != y for x in _flags(a, r) for y in _flags(b, s)), r * s)
    return between - (_pairs_differ(a, r) + _pairs_differ(b, s)) / 2


def _flags(passes: int, attempts: int) -> list[bool]:
    return [index < passes for index in range(attempts)]


def _pairs_differ(passes: int, attempts: int) -> Fraction:
    found = [x != y for x, y in combinations(_flags(passes, attempts), 2)]
    return Fraction(sum(found), len(found))


def test_excess_is_unbiased_for_the_squared_difference_of_rates() -> None:
    """Expectation over all outcomes of one task at rates 3/4 and 1/4 with 3 and 2 attempts."""
    p, q = Fraction(3, 4), Fraction(1, 4)
    mean = Fraction(0)
    for first in product((0, 1), repeat=3):
        for second in product((0, 1), repeat=2):
            weight = Fraction(1)
            for value in first:
                weight *= p if value else 1 - p
            for value in second:
                weight *= q if value else 1 - q
            found = excess_disagreement([(sum(first), 3, sum(second), 2)])
            assert found is not None
            mean += weight * found.excess
    assert mean == (p - q) ** 2


def test_excess_needs_two_attempts_on_both_sides_and_leaves_out_what_has_not() -> None:
    assert excess_disagreement([(1, 1, 0, 5), (0, 0, 2, 2)]) is None
    found = excess_disagreement([(1, 1, 0, 5), (2, 2, 0, 2)])
    assert found is not None
    assert (found.tasks, found.excess, found.p_exact) == (1, Fraction(1), Fraction(1, 3))
    with pytest.raises(ValueError, match="between 0 and the attempts"):
        excess_disagreement([(3, 2, 0, 2)])


@pytest.mark.parametrize("tasks", [[(2, 2, 2, 2)], [(0, 3, 0, 5)], [(5, 5, 5, 5), (0, 5, 0, 5)]])
def test_excess_where_no_verdict_differs_shows_nothing(tasks: list[tuple[int, int, int, int]]) -> None:
    found = excess_disagreement(tasks)
    assert found is not None
    assert (found.excess, found.p, found.p_exact, found.exact) == (0, 1.0, Fraction(1), True)


def test_excess_of_very_many_tasks_falls_back_to_the_normal_tail_and_says_so() -> None:
    draw = random.Random(3)
    tasks = [(draw.randint(0, 10), 10, draw.randint(0, 10), 10) for _ in range(150)]
    found = excess_disagreement(tasks)
    assert found is not None
    assert (found.exact, found.p_exact) == (False, None)
    assert 0 <= found.p <= 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(1, 0),
        lambda: wilson(3, 2),
        lambda: upper_bound(-1, 4),
        lambda: beta_cdf(2, 1, 1),
        lambda: beta_quantile(2, 1, 1),
        lambda: normal_quantile(0),
        lambda: escape(Fraction(2), 3),
        lambda: pass_hat(5, 4, 1),
        lambda: mcnemar_exact(-1, 2),
        lambda: chi_square_tail(1.0, 0),
    ],
)
def test_counts_that_make_no_sense_are_refused(call: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()  # type: ignore[operator]


def test_the_normal_tail_is_close_to_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(9)
    rates = [draw.random() for _ in range(120)]
    tasks = [(_passes(draw, rate), 3, _passes(draw, rate), 3) for rate in rates]
    exact = excess_disagreement(tasks)
    monkeypatch.setattr(excess, "EXACT_WORK", 0)
    excess._excess.cache_clear()
    rough = excess_disagreement(tasks)
    excess._excess.cache_clear()
    assert exact is not None
    assert rough is not None
    assert (exact.exact, rough.exact, exact.excess) == (True, False, rough.excess)
    assert 0.01 < exact.p < 0.99
    assert rough.p == CLOSE(exact.p, abs=0.01)


def _passes(draw: random.Random, rate: float) -> int:
    return sum(draw.random() < rate for _ in range(3))
