"""Percentile bootstrap over tasks (Efron 1979), for ratios that have no formula, such as tokens per solved task.

Its intervals are too narrow at 10 to 24 tasks: where a formula exists, that is used.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tui_bench.analysis.stats.proportion import Interval

SEED = 20261008
DRAWS = 1999


@dataclass(frozen=True, slots=True)
class BootstrapRatio:
    """`ratio` = sum of numerators / sum of denominators and its interval; to be labelled "bootstrap, tasks".

    The upper limit is infinite where too many resamples have nothing to divide by (`empty` of `draws`). `seed` and
    `draws` give the same interval again.
    """

    ratio: float
    ci: Interval
    tasks: int
    seed: int
    draws: int
    empty: int


def bootstrap_ratio(
    tasks: Sequence[tuple[float, float]], conf: float = 0.95, seed: int = SEED, draws: int = DRAWS
) -> BootstrapRatio | None:
    """Interval of the ratio of (numerator, denominator) of every task, tasks resampled with replacement.

    None for fewer than two tasks and where the denominators sum to 0. O(tasks x draws), half a second for 500 tasks:
    not for a screen's loop. Raises ValueError for negative
    or infinite values, `conf` outside (0, 1), and too few `draws` to reach a tail of (1 - conf) / 2.
    """
    if any(not (math.isfinite(value) and value >= 0) for task in tasks for value in task):
        raise ValueError("a bootstrap of a ratio needs finite values that are not negative")
    if not 0 < conf < 1:
        raise ValueError(f"a confidence lies in (0, 1), not {conf}")
    rank = math.floor((1 - conf) / 2 * (draws + 1) + 1e-9) - 1
    if rank < 0:
        raise ValueError(f"{draws} draws do not reach the tails of a {conf} interval")
    below = sum(task[1] for task in tasks)
    if len(tasks) < 2 or below == 0:
        return None
    # Only random() is promised to give the same numbers in every version of Python; choices() is not.
    draw, n = random.Random(seed).random, len(tasks)
    values = sorted(_ratio([tasks[int(draw() * n)] for _ in range(n)]) for _ in range(draws))
    ratio = sum(task[0] for task in tasks) / below
    return BootstrapRatio(ratio, (values[rank], values[draws - 1 - rank]), n, seed, draws, values.count(math.inf))


def _ratio(tasks: list[tuple[float, float]]) -> float:
    below = sum(task[1] for task in tasks)
    return sum(task[0] for task in tasks) / below if below else math.inf
