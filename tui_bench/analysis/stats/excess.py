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
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

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
    n = len(tasks)
    between = sum((_between(*task) for task in tasks), Fraction(0)) / n
    within = sum((_within(*task) for task in tasks), Fraction(0)) / n
    # Tasks that passed or failed in every attempt have one possible split and an excess of 0: they move nothing.
    splits = [_splits(task) for task in tasks if 0 < task[0] + task[2] < task[1] + task[3]]
    seen = (between - within) * n
    p = _tail(splits, seen)
    if p is None:
        return Excess(between, within, between - within, _normal_tail(splits, seen), n, False)
    return Excess(between, within, between - within, float(p), n, True, p)


def _between(a: int, r: int, b: int, s: int) -> Fraction:
    return Fraction(a * (s - b) + (r - a) * b, r * s)


def _within(a: int, r: int, b: int, s: int) -> Fraction:
    return Fraction(a * (r - a), r * (r - 1)) + Fraction(b * (s - b), s * (s - 1))


def _splits(task: Task) -> list[tuple[Fraction, int]]:
    """(excess, ways) of every split of the task's passes over its two environments."""
    a, r, b, s = task
    total = a + b
    return [
        (
            _between(first, r, total - first, s) - _within(first, r, total - first, s),
            math.comb(r, first) * math.comb(s, total - first),
        )
        for first in range(max(0, total - s), min(r, total) + 1)
    ]


def _tail(splits: list[list[tuple[Fraction, int]]], seen: Fraction) -> Fraction | None:
    """P(sum >= seen), None where it would take too long.

    The distribution is one big integer with a slot of `bits` for every score: shifts do the convolution.
    """
    scale = math.lcm(seen.denominator, *(score.denominator for split in splits for score, _ in split))
    scores = [[(int(score * scale), ways) for score, ways in split] for split in splits]
    bits = 1 + sum(sum(ways for _, ways in split).bit_length() for split in scores)
    width = sum(max(split)[0] - min(split)[0] for split in scores)
    if bits * width * sum(len(split) for split in scores) > EXACT_WORK:
        return None
    distribution, lowest = 1, 0
    for split in scores:
        least = min(score for score, _ in split)
        distribution = sum((distribution * ways) << (bits * (score - least)) for score, ways in split)
        lowest += least
    from_score = int(seen * scale) - lowest
    reached = _sum_of_slots(distribution >> (bits * max(0, from_score)), bits)
    return Fraction(reached, math.prod(sum(ways for _, ways in split) for split in scores))


def _sum_of_slots(packed: int, bits: int) -> int:
    """Sum of all slots of a packed distribution; no slot can overflow because their total fits into one."""
    return packed % ((1 << bits) - 1)


def _normal_tail(splits: list[list[tuple[Fraction, int]]], seen: Fraction) -> float:
    mean = variance = Fraction(0)
    for split in splits:
        ways = sum(count for _, count in split)
        first = sum((score * count for score, count in split), Fraction(0)) / ways
        mean += first
        variance += sum((score * score * count for score, count in split), Fraction(0)) / ways - first * first
    if variance == 0:
        return 1.0
    return math.erfc(float(seen - mean) / math.sqrt(2 * float(variance))) / 2
