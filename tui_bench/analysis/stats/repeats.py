"""Repeated attempts of one thing: how likely a flake is to stay unseen, and how often attempts agree.

Probabilities are exact when given as fractions. Every function raises ValueError for counts that make no sense.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction


def escape(fail_prob: Fraction, runs: int) -> Fraction:
    """P(no failure in `runs` runs) of a test that fails with `fail_prob`: (1 - p)^runs."""
    if runs < 0 or not 0 <= fail_prob <= 1:
        raise ValueError(f"escape needs runs >= 0 and a probability, not {fail_prob} and {runs}")
    return (1 - fail_prob) ** runs


def all_agree(fail_prob: Fraction, runs: int) -> Fraction:
    """P(all of `runs` runs end alike): p^runs + (1 - p)^runs."""
    return escape(fail_prob, runs) + escape(1 - fail_prob, runs)


def runs_to_see(fail_prob: Fraction, detection: Fraction = Fraction(19, 20)) -> int | None:
    """Fewest runs with P(at least one failure) >= `detection`; None where no number of runs suffices."""
    if fail_prob <= 0 or detection >= 1:
        return None
    if fail_prob >= 1 or detection <= 0:
        return 1
    runs = max(1, math.floor(math.log1p(-float(detection)) / math.log1p(-float(fail_prob))))
    while escape(fail_prob, runs) > 1 - detection:
        runs += 1
    return runs


def pass_hat(passes: int, attempts: int, k: int) -> Fraction | None:
    """P(k attempts drawn without replacement all passed), C(c, k) / C(n, k); None where k > n."""
    if not 0 <= passes <= attempts or k < 1:
        raise ValueError(f"pass^k needs 0 <= passes <= attempts and k >= 1, not {passes}, {attempts}, {k}")
    return None if k > attempts else Fraction(math.comb(passes, k), math.comb(attempts, k))


def within_disagreement(cells: Iterable[tuple[int, int]]) -> Fraction | None:
    """Mean over cells of P(two attempts disagree), 2 a (r - a) / (r (r - 1)); None where no cell has two attempts."""
    values = [Fraction(2 * a * (r - a), r * (r - 1)) for a, r in cells if r >= 2]
    return sum(values, Fraction(0)) / len(values) if values else None
