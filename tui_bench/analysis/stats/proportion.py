"""One proportion: intervals, tails, and what a count says about a limit.

Counts are integers with 0 <= x <= n; rates are in [0, 1]. Every function raises ValueError for counts outside that
range, and for n = 0 where nothing can be said.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tui_bench.analysis.stats.beta import beta_cdf, beta_quantile

Interval = tuple[float, float]


@lru_cache(maxsize=64)
def normal_quantile(p: float) -> float:
    """The z with P(Z <= z) = `p` for a standard normal Z, by bisection. Raises ValueError outside (0, 1)."""
    if not 0 < p < 1:
        raise ValueError(f"a normal quantile needs 0 < p < 1, not {p}")
    low, high = -40.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if math.erfc(-middle / math.sqrt(2)) / 2 < p:
            low = middle
        else:
            high = middle


def wilson(x: int, n: int, conf: float = 0.95) -> Interval:
    """Score interval of a rate (Wilson 1927), two-sided; exactly 0 at x = 0 and exactly 1 at x = n."""
    _check(x, n)
    z = normal_quantile(0.5 + conf / 2)
    centre = (x + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(x * (n - x) / n + z * z / 4)
    return (0.0 if x == 0 else centre - half), (1.0 if x == n else centre + half)


def clopper_pearson(x: int, n: int, conf: float = 0.95) -> Interval:
    """Exact two-sided interval of a rate (Clopper and Pearson 1934), (1 - conf) / 2 in each tail."""
    tail = (1 - conf) / 2
    return lower_bound(x, n, 1 - tail), upper_bound(x, n, 1 - tail)


def upper_bound(x: int, n: int, conf: float = 0.95) -> float:
    """Exact one-sided upper bound: the rate at which at most `x` of `n` has probability 1 - `conf`."""
    _check(x, n)
    return 1.0 if x == n else beta_quantile(conf, x + 1, n - x)


def lower_bound(x: int, n: int, conf: float = 0.95) -> float:
    """Exact one-sided lower bound: the rate at which at least `x` of `n` has probability 1 - `conf`."""
    _check(x, n)
    return 0.0 if x == 0 else beta_quantile(1 - conf, x, n - x + 1)


def at_least(x: int, n: int, rate: float) -> float:
    """P(X >= x) for X binomial(n, rate), by I_rate(x, n - x + 1)."""
    _check(x, n)
    return 1.0 if x == 0 else beta_cdf(rate, x, n - x + 1)


def at_most(x: int, n: int, rate: float) -> float:
    """P(X <= x) for X binomial(n, rate)."""
    _check(x, n)
    return 1.0 if x == n else beta_cdf(1 - rate, n - x, x + 1)


def standard_error(x: int, n: int) -> float:
    """sqrt(p (1 - p) / n) with p = x / n: for planning only, it is 0 at the edges where it means nothing."""
    _check(x, n)
    return math.sqrt(x * (n - x) / n) / n


def probability_within(x: int, n: int, limit: float) -> float:
    """P(rate <= limit | x of n) under a uniform prior: I_limit(x + 1, n - x + 1)."""
    _check(x, n)
    return beta_cdf(limit, x + 1, n - x + 1)


def allowed_flips(n: int, limit: Fraction) -> int:
    """Largest count whose exact rate does not exceed `limit`."""
    return math.floor(n * limit)


def opening_probability(n: int, limit: Fraction, rate: float) -> float:
    """Operating characteristic of the point rule: P(X / n <= limit) for X binomial(n, rate)."""
    return at_most(min(n, allowed_flips(n, limit)), n, rate)


def clean_pairs_needed(limit: Fraction, conf: float = 0.95) -> int | None:
    """Smallest n at which 0 of n has an upper bound of at most `limit`, 1 - (1 - conf)^(1/n); None for limit 0."""
    if limit <= 0:
        return None
    if limit >= 1:
        return 1
    n = max(1, math.floor(math.log(1 - conf) / math.log1p(-float(limit))))
    while upper_bound(0, n, conf) > limit:
        n += 1
    return n


def conclusive_flips(n: int, limit: Fraction, conf: float = 0.95) -> int | None:
    """Smallest count of `n` whose lower bound reaches `limit`; None where not even n of n does.

    The bound of x reaches a limit exactly where x or more has a probability of at most 1 - `conf` at that limit.
    """
    low, high = 0, n
    if n < 1 or at_least(n, n, float(limit)) > 1 - conf:
        return None
    while low < high:
        middle = (low + high) // 2
        if at_least(middle, n, float(limit)) <= 1 - conf:
            high = middle
        else:
            low = middle + 1
    return low


def _check(x: int, n: int) -> None:
    if n < 1 or not 0 <= x <= n:
        raise ValueError(f"a proportion needs n >= 1 and 0 <= x <= n, not {x} of {n}")
