"""More tasks or more attempts: planning with question variance and attempt variance, in the form of Miller (2024).

    n = (z_(alpha/2) + z_power)^2 (w^2 + s_A^2 / K_A + s_B^2 / K_B) / gap^2

w^2 is the variance over tasks of the difference of true pass rates, s^2 the mean variance of one attempt within a task
(at most 1/4), K the attempts per task. Attempts help only until s^2 / K is small beside w^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tui_bench.analysis.stats.proportion import normal_quantile


@dataclass(frozen=True, slots=True)
class Spread:
    """w^2 `question`, and s^2 of either side, in squared pass rates. Raises ValueError where one is negative."""

    question: float
    attempt_a: float
    attempt_b: float

    def __post_init__(self) -> None:
        if min(self.question, self.attempt_a, self.attempt_b) < 0:
            raise ValueError(f"variances are not negative: {self.question}, {self.attempt_a}, {self.attempt_b}")

    def per_task(self, attempts_a: int, attempts_b: int) -> float:
        """Variance of one task's difference of means. Raises ValueError below one attempt."""
        if min(attempts_a, attempts_b) < 1:
            raise ValueError(f"attempts per task are at least 1, not {attempts_a} and {attempts_b}")
        return self.question + self.attempt_a / attempts_a + self.attempt_b / attempts_b


def miller_tasks(
    gap: float, spread: Spread, attempts_a: int, attempts_b: int, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Tasks that show `gap`, rounded up, at least 1. ValueError for gap <= 0, power or alpha outside (0, 1)."""
    return max(1, math.ceil(_reach(power, alpha) ** 2 * spread.per_task(attempts_a, attempts_b) / _positive(gap) ** 2))


def miller_gap(
    tasks: int, spread: Spread, attempts_a: int, attempts_b: int, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Smallest gap that `tasks` >= 1 tasks show, the same formula turned round. ValueError as above."""
    if tasks < 1:
        raise ValueError(f"a plan needs a task, not {tasks}")
    return _reach(power, alpha) * math.sqrt(spread.per_task(attempts_a, attempts_b) / tasks)


def attempts_needed(gap: float, tasks: int, spread: Spread, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Attempts per task, the same on both sides, that show `gap` with these tasks; None where no number does.

    K = (s_A^2 + s_B^2) / (tasks gap^2 / (z_(alpha/2) + z_power)^2 - w^2), rounded up, at least 1. ValueError as above.
    """
    if tasks < 1:
        raise ValueError(f"a plan needs a task, not {tasks}")
    left = tasks * _positive(gap) ** 2 / _reach(power, alpha) ** 2 - spread.question
    both = spread.attempt_a + spread.attempt_b
    if left < 0 or (left == 0 and both > 0):
        return None
    return max(1, math.ceil(both / left)) if both else 1


@dataclass(frozen=True, slots=True)
class Growth:
    """Two ways to show a gap: `tasks` at the attempts there are, or `attempts` per task at the tasks there are.

    `*_runs` are the runs of both sides together. `attempts` is None where no number of them suffices.
    """

    tasks: int
    tasks_runs: int
    attempts: int | None
    attempts_runs: int | None
    cheaper: Literal["neither needed", "more tasks", "more attempts"]


def cheaper_growth(
    gap: float,
    tasks: int,
    attempts: int,
    spread: Spread,
    task_price: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Growth:
    """Which growth of a plan of `tasks` x `attempts` a side reaches `gap` at the lower price; ties favour tasks.

    A run costs 1 and making a new task `task_price`. In runs alone more tasks are never dearer, but for rounding: where
    z^2 (w^2 + 2 s^2 / K) / n exceeds gap^2, n' K is at most n K'. Raises ValueError as above and for a negative price.
    """
    if not task_price >= 0:
        raise ValueError(f"the price of a task is not negative: {task_price}")
    wanted = max(tasks, miller_tasks(gap, spread, attempts, attempts, power, alpha))
    repeats = attempts_needed(gap, tasks, spread, power, alpha)
    repeats = None if repeats is None else max(attempts, repeats)
    by_tasks, by_attempts = 2 * wanted * attempts, None if repeats is None else 2 * tasks * repeats
    cheaper: Literal["neither needed", "more tasks", "more attempts"] = "more tasks"
    if wanted == tasks:
        cheaper = "neither needed"
    elif by_attempts is not None and by_attempts < by_tasks + task_price * (wanted - tasks):
        cheaper = "more attempts"
    return Growth(wanted, by_tasks, repeats, by_attempts, cheaper)


def _reach(power: float, alpha: float) -> float:
    if not (0 < power < 1 and 0 < alpha < 1):
        raise ValueError(f"power and alpha lie in (0, 1), not {power} and {alpha}")
    return normal_quantile(1 - alpha / 2) + normal_quantile(power)


def _positive(gap: float) -> float:
    if not gap > 0:
        raise ValueError(f"a gap to plan for is positive, not {gap}")
    return gap
