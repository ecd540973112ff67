"""A mean over values that come in groups: its standard error, and an interval by Student's t.

Attempts of one task are no independent draws, so the task is the group. Every function raises ValueError where there is
nothing to compute from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tui_bench.analysis.stats.beta import beta_quantile
from tui_bench.analysis.stats.proportion import Interval


def clustered_se(groups: Sequence[Sequence[float]]) -> float:
    """Cluster-robust standard error of the mean over all values (Liang and Zeger 1986), with G / (G - 1).

    sqrt(sum of squared group sums of residuals) / N * sqrt(G / (G - 1)); needs two groups that are not empty.
    """
    count = sum(map(len, groups))
    if len(groups) < 2 or not all(groups):
        raise ValueError(f"a clustered error needs two groups with values, not {len(groups)}")
    mean = sum(map(sum, groups)) / count
    squares = sum(sum(value - mean for value in group) ** 2 for group in groups)
    return math.sqrt(squares * len(groups) / (len(groups) - 1)) / count


def t_quantile(conf: float, freedom: int) -> float:
    """The t with P(|T| <= t) = `conf` for Student's T: `freedom` / (`freedom` + t^2) is Beta(freedom / 2, 1 / 2)."""
    if freedom < 1 or not 0 < conf < 1:
        raise ValueError(f"a t quantile needs 0 < conf < 1 and freedom >= 1, not {conf} and {freedom}")
    share = beta_quantile(1 - conf, freedom / 2, 0.5)
    return math.sqrt(freedom * (1 - share) / share)


def mean_interval(means: Sequence[float], conf: float = 0.95) -> Interval | None:
    """Interval of the mean of task means, with tasks - 1 degrees of freedom, cut to [0, 1].

    None for fewer than two tasks, and where all are equal: no spread was seen, which is not the same as none.
    """
    if len(means) < 2 or min(means) == max(means):
        return None
    half = t_quantile(conf, len(means) - 1) * clustered_se([[mean] for mean in means])
    middle = sum(means) / len(means)
    return max(0.0, middle - half), min(1.0, middle + half)
