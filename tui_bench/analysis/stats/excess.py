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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

Task = tuple[int, int, int, int]
"""(passes in one environment, attempts there, passes in the other, attempts there)."""
Splits = tuple[tuple[Fraction, int], ...]
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
    moving = {kind: count for kind, count in kinds.items() if 0 < kind[0] + kind[2] < kind[1] + kind[3]}
    seen = (between - within) * n
    p = _tail([_splits(kind) for kind, count in moving.items() for _ in range(count)], seen)
    if p is None:
        return Excess(between, within, between - within, _normal_tail(moving, seen), n, False)
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


def _tail(splits: Sequence[Splits], seen: Fraction) -> Fraction | None:
    """P(sum >= seen), None where it would take too long.

    The distribution is one big integer with a slot of `bits` for every score: shifts do the convolution. No slot can
    overflow, because the total of all of them fits into one.
    """
    kinds = set(splits)
    scale = math.lcm(seen.denominator, *(score.denominator for split in kinds for score, _ in split))
    scores = {split: [(int(score * scale), ways) for score, ways in split] for split in kinds}
    totals = {split: sum(ways for _, ways in split) for split in kinds}
    bits = 1 + sum(totals[split].bit_length() for split in splits)
    width = sum(max(scores[split])[0] - min(scores[split])[0] for split in splits)
    if bits * width * sum(len(split) for split in splits) > EXACT_WORK:
        return None
    if not splits:
        return Fraction(1)
    distribution, lowest = 1, 0
    for split in splits:
        least = min(scores[split])[0]
        distribution = sum((distribution * ways) << (bits * (score - least)) for score, ways in scores[split])
        lowest += least
    reached = distribution >> (bits * max(0, int(seen * scale) - lowest))
    # Modulo 2^bits - 1 adds all slots up.
    return Fraction(reached % ((1 << bits) - 1), math.prod(totals[split] for split in splits))


def _normal_tail(kinds: Mapping[Task, int], seen: Fraction) -> float:
    """P(sum >= seen) by the normal law, with half a step of the sum's lattice as continuity correction."""
    mean = variance = Fraction(0)
    for kind, count in kinds.items():
        splits = _splits(kind)
        ways = sum(number for _, number in splits)
        first = sum((score * number for score, number in splits), Fraction(0)) / ways
        mean += count * first
        variance += count * (sum((score**2 * number for score, number in splits), Fraction(0)) / ways - first**2)
    if variance == 0:
        return 1.0
    return math.erfc(float(seen - _step(kinds) / 2 - mean) / math.sqrt(2 * float(variance))) / 2


def _step(kinds: Iterable[Task]) -> Fraction:
    """Largest step of which all differences between possible sums are multiples."""
    gaps = [score - _splits(kind)[0][0] for kind in kinds for score, _ in _splits(kind)]
    scale = math.lcm(*(gap.denominator for gap in gaps))
    return Fraction(math.gcd(*(int(gap * scale) for gap in gaps)), scale)
