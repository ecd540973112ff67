"""Tails of a sum of independent scores, exactly: the ground of the permutation tests over tasks.

A `Splits` lists the (score, ways) a task can take; the sum runs over tasks, given as a count for every kind of splits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

Splits = tuple[tuple[Fraction, int], ...]


def upper_tail(splits: Mapping[Splits, int], seen: Fraction, work_at_most: int) -> Fraction | None:
    """P(sum >= `seen`), None where it would take more than `work_at_most` bits to shift. No splits: the sum is 0.

    The distribution is one big integer with a slot of `bits` for every score: shifts do the convolution. No slot can
    overflow, because the total of all of them fits into one.
    """
    scale = math.lcm(seen.denominator, *(score.denominator for split in splits for score, _ in split))
    scores = {split: [(int(score * scale), ways) for score, ways in split] for split in splits}
    totals = {split: sum(ways for _, ways in split) for split in splits}
    bits = 1 + sum(count * totals[split].bit_length() for split, count in splits.items())
    width = sum(count * (max(scores[split])[0] - min(scores[split])[0]) for split, count in splits.items())
    if bits * width * sum(count * len(split) for split, count in splits.items()) > work_at_most:
        return None
    if not splits:
        return Fraction(int(seen <= 0))
    distribution, lowest = 1, 0
    for split, count in splits.items():
        least = min(scores[split])[0]
        for _ in range(count):
            distribution = sum((distribution * ways) << (bits * (score - least)) for score, ways in scores[split])
        lowest += count * least
    reached = distribution >> (bits * max(0, int(seen * scale) - lowest))
    # Modulo 2^bits - 1 adds all slots up.
    total = math.prod(totals[split] ** count for split, count in splits.items())
    return Fraction(reached % ((1 << bits) - 1), total)


def normal_tail(splits: Mapping[Splits, int], seen: Fraction) -> float:
    """P(sum >= `seen`) by the normal law, with half a step of the sum's lattice as continuity correction."""
    mean = variance = Fraction(0)
    for split, count in splits.items():
        ways = sum(number for _, number in split)
        first = sum((score * number for score, number in split), Fraction(0)) / ways
        mean += count * first
        variance += count * (sum((score**2 * number for score, number in split), Fraction(0)) / ways - first**2)
    if variance == 0:
        return float(seen <= mean)
    return math.erfc(float(seen - _step(splits) / 2 - mean) / math.sqrt(2 * float(variance))) / 2


def _step(splits: Mapping[Splits, int]) -> Fraction:
    """Largest step of which all differences between possible sums are multiples."""
    gaps = [score - split[0][0] for split in splits for score, _ in split]
    scale = math.lcm(*(gap.denominator for gap in gaps))
    return Fraction(math.gcd(*(int(gap * scale) for gap in gaps)), scale)
