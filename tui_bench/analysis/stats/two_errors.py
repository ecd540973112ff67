"""The two standard errors of a pass rate, which answer different questions and are never mixed.

Re-run error: the same tasks, attempted anew. New-task error: other tasks drawn like these. Both refer to the mean of
task means. Taking all attempts for independent draws gives a third figure that is neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class TwoErrors:
    """`mean` of the means of `tasks` tasks with `attempts` scored attempts in all, in [0, 1].

    `rerun` is None while a task has a single scored attempt (`single` counts them), `new_task` below two tasks. An
    error of 0 says that no spread was seen, never that there is none. `unmeasured` tasks have no scored attempt.
    """

    mean: Fraction
    rerun: float | None
    new_task: float | None
    tasks: int
    attempts: int
    single: int
    unmeasured: int


def two_errors(cells: Iterable[tuple[int, int]]) -> TwoErrors | None:
    """Both errors of (passes, scored attempts) of every task; None where no task has an attempt.

    rerun = sqrt(sum of s_t^2 / r_t) / T with s_t^2 = a (r - a) / (r (r - 1)), the variance within task t;
    new_task = sqrt(sum of (mean_t - mean)^2 / (T (T - 1))), in balanced data the clustered error of all attempts by
    task with its G / (G - 1).
    Raises ValueError for passes outside 0..attempts.
    """
    given = list(cells)
    for passes, attempts in given:
        if not 0 <= passes <= attempts:
            raise ValueError(f"passes lie between 0 and the attempts, not {passes} of {attempts}")
    measured = [cell for cell in given if cell[1]]
    if not measured:
        return None
    tasks, single = len(measured), sum(attempts == 1 for _, attempts in measured)
    means = [Fraction(passes, attempts) for passes, attempts in measured]
    rerun = None
    if not single:
        within = sum((Fraction(a * (r - a), r * r * (r - 1)) for a, r in measured), Fraction(0))
        rerun = math.sqrt(within) / tasks
    mean, new_task = sum(means, Fraction(0)) / tasks, None
    if tasks >= 2:
        between = sum(((one - mean) ** 2 for one in means), Fraction(0))
        new_task = math.sqrt(between / (tasks * (tasks - 1)))
    return TwoErrors(
        mean, rerun, new_task, tasks,
        sum(attempts for _, attempts in measured), single, len(given) - tasks,
    )  # fmt: skip
