"""Intervals of the difference of two paired pass rates, (only_a - only_b) / n in [-1, 1].

Tango's score interval needs no split of the ties and holds its level at 12 tasks; Newcombe's is narrower and needs the
whole table.
"""

from __future__ import annotations

import math

from tui_bench.analysis.stats.proportion import Interval, normal_quantile, wilson


def tango(only_a: int, only_b: int, n: int, conf: float = 0.95) -> Interval:
    """Score interval of Tango (1998): all differences d whose score statistic is within the normal quantile z.

    z^2 = (only_a - only_b - n d)^2 / (n (2 q + d (1 - d))), with q the share of only_b pairs that is likeliest at d:
    the larger root of 2 n q^2 + (-only_a - only_b + (2 n - only_a + only_b) d) q - only_b d (1 - d) = 0.
    Raises ValueError for counts that are negative or exceed `n` >= 1, and for `conf` outside (0, 1).
    """
    if min(only_a, only_b) < 0 or n < 1 or only_a + only_b > n:
        raise ValueError(f"discordant pairs lie in 0..n, n >= 1, not {only_a} + {only_b} of {n}")
    z = _normal(conf)
    # Swapping the two sides turns the upper limit into the lower one, so that one search serves both.
    return -_tango_upper(only_b, only_a, n, z), _tango_upper(only_a, only_b, n, z)


def _tango_upper(b: int, c: int, n: int, z: float) -> float:
    inside, outside = (b - c) / n, 1.0
    if b == n:
        return 1.0
    while True:
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            return middle
        if (b - c - n * middle) ** 2 > z * z * _score_variance(middle, b, c, n):
            outside = middle
        else:
            inside = middle


def _score_variance(d: float, b: int, c: int, n: int) -> float:
    half = (-b - c + (2 * n - b + c) * d) / 2
    last = c * d * (1 - d)
    q = (math.sqrt(max(0.0, half * half + 2 * n * last)) - half) / (2 * n)
    return n * (2 * q + d * (1 - d))


def newcombe10(both_pass: int, only_a: int, only_b: int, both_fail: int, conf: float = 0.95) -> Interval:
    """Newcombe's (1998) method 10: Wilson limits of either rate, joined by the phi coefficient of the pairs.

    upper = d + sqrt(x^2 - 2 phi x y + y^2) with x the way from rate A up to its limit and y from rate B down to its
    own; lower by the opposite limits. phi's numerator ad - bc is reduced by n / 2 where positive, at most to 0.
    Raises ValueError for negative counts, for no pairs, and for `conf` outside (0, 1).
    """
    table = (both_pass, only_a, only_b, both_fail)
    n = sum(table)
    if min(table) < 0 or n < 1:
        raise ValueError(f"a paired table needs counts that are not negative and a pair, not {table}")
    _normal(conf)
    passed_a, passed_b = both_pass + only_a, both_pass + only_b
    (low_a, high_a), (low_b, high_b) = wilson(passed_a, n, conf), wilson(passed_b, n, conf)
    rate_a, rate_b, phi = passed_a / n, passed_b / n, _phi(table)
    difference = (only_a - only_b) / n
    down = _joined(rate_a - low_a, high_b - rate_b, phi)
    up = _joined(high_a - rate_a, rate_b - low_b, phi)
    return max(-1.0, difference - down), min(1.0, difference + up)


def _joined(x: float, y: float, phi: float) -> float:
    return math.sqrt(max(0.0, x * x - 2 * phi * x * y + y * y))


def _phi(table: tuple[int, int, int, int]) -> float:
    a, b, c, d = table
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    above = a * d - b * c
    # Without the correction a table such as (1, 0, 0, 1) would have phi = 1 and an interval of one point.
    corrected = max(0.0, above - sum(table) / 2) if above > 0 else float(above)
    return corrected / math.sqrt(product)


def _normal(conf: float) -> float:
    if not 0 < conf < 1:
        raise ValueError(f"a confidence lies in (0, 1), not {conf}")
    return normal_quantile(0.5 + conf / 2)
