"""How much environments disagree beyond what one environment disagrees with itself.

Per task with `a` passes of `r` in one environment and `b` of `s` in the other:

    between = [a (s - b) + (r - a) b] / (r s)
    within  = mean of 2 a (r - a) / (r (r - 1)) and 2 b (s - b) / (s (s - 1))
    excess  = between - within, whose expectation is (p1 - p2)^2

The p-value is the exact permutation of environment labels within tasks: given a + b the split is hypergeometric, and
the distributions are convolved over tasks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tui_bench.analysis.stats.convolution import Splits, normal_tail, upper_tail

Task = tuple[int, int, int, int]
"""(passes in one environment, attempts there, passes in the other, attempts there)."""
EXACT_WORK = 2_000_000_000
"""Bits to shift up to which the convolution is done exactly (some 50 ms); beyond, the normal tail is used."""


@dataclass(frozen=True, slots=True)
class Excess:
    """Means over `tasks`. `p` is P(mean excess >= the one seen) with labels permuted; exact unless `exact` is False."""

    between: Fraction
    within: Fraction
    excess: Fraction
    p: float
    tasks: int
    exact: bool
    p_exact: Fraction | None = None


def excess_disagreement(tasks: Iterable[Task]) -> Excess | None:
    """Excess over all tasks with at least two attempts on either side; None where there is no such task.

    Raises ValueError for passes outside 0..attempts.
    """
    return _excess(tuple(sorted(task for task in tasks if task[1] >= 2 and task[3] >= 2)))


@lru_cache(maxsize=256)
def _excess(tasks: tuple[Task, ...]) -> Excess | None:
    if not tasks:
        return None
    for a, r, b, s in tasks:
        if not (0 <= a <= r and 0 <= b <= s):
            raise ValueError(f"passes lie between 0 and the attempts, not {a} of {r} and {b} of {s}")
    n, kinds = len(tasks), Counter(tasks)
    between = sum((count * _between(*kind) for kind, count in kinds.items()), Fraction(0)) / n
    within = sum((count * _within(*kind) for kind, count in kinds.items()), Fraction(0)) / n
    # Tasks that passed or failed in every attempt have one possible split and an excess of 0: they move nothing.
    moving: Counter[Splits] = Counter()
    for kind, count in kinds.items():
        if 0 < kind[0] + kind[2] < kind[1] + kind[3]:
            moving[_splits(kind)] += count
    seen = (between - within) * n
    p = upper_tail(moving, seen, EXACT_WORK)
    if p is None:
        return Excess(between, within, between - within, normal_tail(moving, seen), n, False)
    return Excess(between, within, between - within, float(p), n, True, p)


def _between(a: int, r: int, b: int, s: int) -> Fraction:
    return Fraction(a * (s - b) + (r - a) * b, r * s)


def _within(a: int, r: int, b: int, s: int) -> Fraction:
    return Fraction(a * (r - a), r * (r - 1)) + Fraction(b * (s - b), s * (s - 1))


@lru_cache(maxsize=4096)
def _splits(task: Task) -> Splits:
    """(excess, ways) of every split of the task's passes over its two environments."""
    a, r, b, s = task
    total = a + b
    return tuple(
        (
            _between(first, r, total - first, s) - _within(first, r, total - first, s),
            math.comb(r, first) * math.comb(s, total - first),
        )
        for first in range(max(0, total - s), min(r, total) + 1)
    )
