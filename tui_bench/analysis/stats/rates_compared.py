"""Rates that cannot be paired: a pass count against a published rate, or against another count.

To be used only where per-task results of the other side are missing: paired verdicts tell more. Attempts of one task
are no independent draws; the counts are of tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class RateComparison:
    """`difference` in [-1, 1]; `exact` two-sided p of the exact test; `z` and its two-sided normal `p` beside it.

    `z` is None where the rates compared leave no variance (all pass, or none).
    """

    difference: Fraction
    exact: Fraction
    z: float | None
    p: float | None


def against_rate(passes: int, n: int, rate: Fraction) -> RateComparison:
    """`passes` of `n` less a published exact `rate`: exact binomial and score test.

    exact = sum of the probabilities of all counts that are no likelier than the one seen, as is usual for a two-sided
    binomial test; z = (passes / n - rate) / sqrt(rate (1 - rate) / n). Raises ValueError for counts outside
    0 <= passes <= n, n < 1 and a rate outside [0, 1].
    """
    _check(passes, n)
    if not 0 <= rate <= 1:
        raise ValueError(f"a published rate lies in [0, 1], not {rate}")
    up, down = rate.numerator, rate.denominator - rate.numerator
    ways = [math.comb(n, k) * up**k * down ** (n - k) for k in range(n + 1)]
    exact = Fraction(sum(way for way in ways if way <= ways[passes]), rate.denominator**n)
    difference = Fraction(passes, n) - rate
    return _compared(difference, exact, rate * (1 - rate) / n)


def two_rates(passes: int, n: int, other_passes: int, other_n: int) -> RateComparison:
    """`passes` of `n` less `other_passes` of `other_n`: Fisher's (1935) exact test and the pooled score test.

    exact = sum over all tables with these margins that are no likelier than the one seen;
    z = difference / sqrt(q (1 - q) (1 / n + 1 / other_n)) with q the pooled rate. Raises ValueError for counts that
    make no sense.
    """
    _check(passes, n)
    _check(other_passes, other_n)
    together = passes + other_passes
    ways = {
        k: math.comb(n, k) * math.comb(other_n, together - k)
        for k in range(max(0, together - other_n), min(n, together) + 1)
    }
    exact = Fraction(sum(way for way in ways.values() if way <= ways[passes]), math.comb(n + other_n, together))
    pooled = Fraction(together, n + other_n)
    variance = pooled * (1 - pooled) * (Fraction(1, n) + Fraction(1, other_n))
    return _compared(Fraction(passes, n) - Fraction(other_passes, other_n), exact, variance)


def _compared(difference: Fraction, exact: Fraction, variance: Fraction) -> RateComparison:
    if variance == 0:
        return RateComparison(difference, exact, None, None)
    z = float(difference) / math.sqrt(variance)
    return RateComparison(difference, exact, z, math.erfc(abs(z) / math.sqrt(2)))


def _check(passes: int, n: int) -> None:
    if n < 1 or not 0 <= passes <= n:
        raise ValueError(f"a rate needs n >= 1 and 0 <= passes <= n, not {passes} of {n}")
