"""Power of McNemar's test before anything is run: the discordant pairs are binomial, and so are the wins among them.

With `discordance` the chance that a pair's verdicts differ and `gap` = P(only A passes) - P(only B passes),

    power(n) = sum over m of Binomial(m; n, discordance) P(p-value of W, m - W at most alpha),
    W binomial(m, (discordance + gap) / (2 discordance)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Literal

PairedTest = Literal["mid_p", "exact"]
ALPHA = Fraction(1, 20)


@lru_cache(maxsize=16)
def critical_counts(pairs: int, alpha: Fraction, test: PairedTest) -> tuple[int, ...]:
    """For every m = 0..`pairs` the largest smaller count k of k against m - k with a p-value <= alpha; -1 for none.

    Exact: the tail sum S(m, k) of C(m, 0..k) follows S(m + 1, k) = 2 S(m, k) - C(m, k). ValueError as `paired_power`.
    """
    if pairs < 0 or not 0 < alpha < 1 or test not in ("mid_p", "exact"):
        raise ValueError(f"critical counts need pairs >= 0, 0 < alpha < 1 and a test, not {pairs}, {alpha}, {test}")
    found: list[int] = []
    # S and C belong to the candidate k, the smallest count that has not yet reached alpha.
    k, tail, last = 0, 1, 1
    for m in range(pairs + 1):
        if m:
            tail, last = 2 * tail - last, math.comb(m, k)
        while 2 * k < m and _doubled(tail, last, test) <= alpha * 2**m:
            k += 1
            last = last * (m - k + 1) // k
            tail += last
        found.append(k - 1)
    return tuple(found)


def _doubled(tail: int, last: int, test: PairedTest) -> int:
    return 2 * tail - (last if test == "mid_p" else 0)


def paired_power(n: int, discordance: float, gap: float, alpha: Fraction = ALPHA, test: PairedTest = "mid_p") -> float:
    """P(the two-sided test rejects) with `n` pairs. O(n) after O(n) of preparation shared by all smaller n.

    Raises ValueError for n < 0, discordance outside (0, 1], |gap| above it, and alpha outside (0, 1).
    """
    if n < 0 or not 0 < discordance <= 1 or not abs(gap) <= discordance:
        raise ValueError(f"paired power needs n >= 0 and |gap| <= discordance <= 1, not {n}, {gap}, {discordance}")
    share = min(1.0, (discordance + abs(gap)) / (2 * discordance))
    # Rounded up, so that a search over n prepares a few times only.
    rejected = _rejections(max(64, 1 << (n - 1).bit_length()) if n else 64, share, alpha, test)
    return min(1.0, math.fsum(_binomial(m, n, discordance) * rejected[m] for m in range(n + 1)))


@lru_cache(maxsize=64)
def _rejections(pairs: int, share: float, alpha: Fraction, test: PairedTest) -> tuple[float, ...]:
    """P(reject | m discordant pairs) for m = 0..pairs, by either tail's recursion over m at its critical count."""
    critical = critical_counts(pairs, alpha, test)
    lower, upper = _tails(critical, share), _tails(critical, 1 - share)
    return tuple(min(1.0, one + other) for one, other in zip(lower, upper, strict=True))


def _tails(critical: tuple[int, ...], share: float) -> list[float]:
    """P(X <= critical[m]) for X binomial(m, share): P(X_m+1 <= k) = P(X_m <= k) - share P(X_m = k)."""
    found: list[float] = []
    tail, k = 0.0, -1
    for m, wanted in enumerate(critical):
        if m and k >= 0:
            tail = max(0.0, tail - share * _binomial(k, m - 1, share))
        while k < wanted:
            k += 1
            tail += _binomial(k, m, share)
        found.append(tail)
    return found


def _binomial(k: int, n: int, rate: float) -> float:
    if rate in (0.0, 1.0):
        return float(k == n * rate)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(rate) + (n - k) * math.log1p(-rate))
