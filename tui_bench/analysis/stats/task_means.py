"""A mean over tasks with its t interval: for floors, deltas and gaps, where the task is the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tui_bench.analysis.stats.clustered import clustered_se, t_quantile
from tui_bench.analysis.stats.proportion import Interval

CLUSTERS_AT_LEAST = 6
"""Declared clusters (language, repository) below this number are too few to take a spread from."""


@dataclass(frozen=True, slots=True)
class TaskMean:
    """`mean` over `tasks` task values, its standard error `se` and t interval `ci`, taken over `groups` of `unit`.

    `se` and `ci` are None for fewer than two groups and where no spread was seen, which is not the same as none.
    """

    mean: Fraction
    se: float | None
    ci: Interval | None
    tasks: int
    groups: int
    unit: Literal["tasks", "clusters"]


def task_mean(
    values: Sequence[Fraction],
    clusters: Sequence[str] | None = None,
    conf: float = 0.95,
    bounds: Interval = (-1.0, 1.0),
) -> TaskMean:
    """mean +/- t(conf, groups - 1) x the clustered error of Liang and Zeger (1986), cut to `bounds`.

    `values` are averaged within tasks already: rates in [0, 1] or differences in [-1, 1]. `clusters` names the cluster
    of every task; that level is used when it has at least six, else the task is. Raises ValueError for no values, for
    clusters of another number and for `conf` outside (0, 1).
    """
    if not values or (clusters is not None and len(clusters) != len(values)):
        raise ValueError(f"a mean over tasks needs a value, and a cluster for each if any, not {len(values)} values")
    if not 0 < conf < 1:
        raise ValueError(f"a confidence lies in (0, 1), not {conf}")
    mean = sum(values, Fraction(0)) / len(values)
    by_cluster: dict[str, list[Fraction]] = {}
    for name, value in zip(clusters or (), values, strict=clusters is not None):
        by_cluster.setdefault(name, []).append(value)
    unit: Literal["tasks", "clusters"] = "clusters" if len(by_cluster) >= CLUSTERS_AT_LEAST else "tasks"
    groups = list(by_cluster.values()) if unit == "clusters" else [[value] for value in values]
    # Exact, because rounding would turn "no spread" into a tiny one with a false interval.
    if len(groups) < 2 or all(sum(group) == mean * len(group) for group in groups):
        return TaskMean(mean, None, None, len(values), len(groups), unit)
    se = clustered_se([list(map(float, group)) for group in groups])
    half = t_quantile(conf, len(groups) - 1) * se
    ci = max(bounds[0], float(mean) - half), min(bounds[1], float(mean) + half)
    return TaskMean(mean, se, ci, len(values), len(groups), unit)
