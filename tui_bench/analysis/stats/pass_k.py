"""pass@k and pass^k over a set of tasks: the chance that any, and that all, of k attempts pass.

Both draw k attempts without replacement from those made, so that they are unbiased (Chen et al. 2021; Yao et al. 2024).
Over a set, P(two attempts of a task disagree) = 2 (pass^1 - pass^2), as long as every task has two attempts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.repeats import pass_hat


def pass_at(passes: int, attempts: int, k: int) -> Fraction | None:
    """P(at least one of k attempts passed), 1 - C(n - c, k) / C(n, k); None where k > n, never 1.

    Raises ValueError for passes outside 0..attempts and for k < 1.
    """
    if not 0 <= passes <= attempts or k < 1:
        raise ValueError(f"pass@k needs 0 <= passes <= attempts and k >= 1, not {passes}, {attempts}, {k}")
    return None if k > attempts else 1 - Fraction(math.comb(attempts - passes, k), math.comb(attempts, k))


@dataclass(frozen=True, slots=True)
class PassPoint:
    """Means over all tasks at `k`; None where `short` tasks have fewer than k scored attempts.

    The mean over the other tasks alone would speak of another set of tasks.
    """

    k: int
    at: Fraction | None
    hat: Fraction | None
    short: int


def pass_points(cells: Sequence[tuple[int, int]], ks: Sequence[int]) -> tuple[PassPoint, ...]:
    """A point for every k of `ks`; `cells` has (passes, scored attempts) of every task.

    Without tasks the means are None. Raises ValueError as `pass_at`.
    """
    return tuple(
        PassPoint(
            k,
            _mean([pass_at(passes, attempts, k) for passes, attempts in cells]),
            _mean([pass_hat(passes, attempts, k) for passes, attempts in cells]),
            sum(attempts < k for _, attempts in cells),
        )
        for k in ks
    )


def _mean(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(values) else None
