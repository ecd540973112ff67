"""Whether one environment passes more than the other: the directional companion of the excess disagreement.

Per task with `a` passes of `r` in the first and `b` of `s` in the second environment the score is a / r - b / s. Given
a + b the split is hypergeometric with mean 0; the exact distributions are convolved over tasks, a stratified test in
the manner of Mantel and Haenszel (1959). Tasks broken and tasks repaired cancel here, and add up in the excess.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.convolution import Splits, normal_tail, upper_tail
from tui_bench.analysis.stats.excess import EXACT_WORK, Task


@dataclass(frozen=True, slots=True)
class Net:
    """Mean over `tasks` of the pass rate in the first less that in the second environment, in [-1, 1].

    `p` is two-sided, P(|mean| >= the one seen) with labels permuted; exact unless `p_exact` is None (normal tail).
    """

    difference: Fraction
    p: float
    tasks: int
    p_exact: Fraction | None


def net_difference(tasks: Iterable[Task], work_at_most: int = EXACT_WORK) -> Net | None:
    """Net difference over all tasks with an attempt on either side; None where there is no such task.

    `work_at_most` bounds the exact convolution (bits to shift). Raises ValueError for passes outside 0..attempts.
    """
    counted = [task for task in tasks if task[1] >= 1 and task[3] >= 1]
    if not counted:
        return None
    splits: Counter[Splits] = Counter()
    seen = Fraction(0)
    for task, count in Counter(counted).items():
        a, r, b, s = task
        if not (0 <= a <= r and 0 <= b <= s):
            raise ValueError(f"passes lie between 0 and the attempts, not {a} of {r} and {b} of {s}")
        seen += count * (Fraction(a, r) - Fraction(b, s))
        if 0 < a + b < r + s:
            splits[_splits(task)] += count
    difference = seen / len(counted)
    if seen == 0:
        return Net(difference, 1.0, len(counted), Fraction(1))
    mirrored = Counter({tuple((-score, ways) for score, ways in split): count for split, count in splits.items()})
    above, below = upper_tail(splits, abs(seen), work_at_most), upper_tail(mirrored, abs(seen), work_at_most)
    if above is None or below is None:
        return Net(difference, min(1.0, 2 * normal_tail(splits, abs(seen))), len(counted), None)
    return Net(difference, float(above + below), len(counted), above + below)


def _splits(task: Task) -> Splits:
    """(score, ways) of every split of the task's passes over its two environments."""
    a, r, b, s = task
    total = a + b
    return tuple(
        (Fraction(first, r) - Fraction(total - first, s), math.comb(r, first) * math.comb(s, total - first))
        for first in range(max(0, total - s), min(r, total) + 1)
    )
