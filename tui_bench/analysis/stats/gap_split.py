"""How much of a gap between two agents on two boxes belongs to the agent, and how much to the box.

For agents A and B on boxes 1 and 2, per task and then averaged:

    A@1 - B@2  =  agent part 1/2 [(A1 - B1) + (A2 - B2)]  +  box part 1/2 [(A1 - A2) + (B1 - B2)]

which adds up exactly. With only A@1 and B@2 run, the two parts cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.task_means import TaskMean, task_mean

Cell = tuple[int, int]
"""(passes, scored attempts) of one agent on one box; 0 attempts: not run, or all void."""


@dataclass(frozen=True, slots=True)
class CrossedTask:
    """One task's four cells."""

    a1: Cell
    a2: Cell
    b1: Cell
    b2: Cell


@dataclass(frozen=True, slots=True)
class GapSplit:
    """`gap` = `agent` + `box`, each in [-1, 1] with its paired t interval over the same tasks.

    `agent` and `box` are None where no task has all four cells: not separable. `left_out` tasks lack a cell.
    """

    gap: TaskMean
    agent: TaskMean | None
    box: TaskMean | None
    left_out: int

    @property
    def separable(self) -> bool:
        """Whether the parts can be told apart."""
        return self.agent is not None


def gap_split(tasks: Sequence[CrossedTask], conf: float = 0.95) -> GapSplit | None:
    """The split over tasks with all four cells, or else the gap alone over those with A@1 and B@2; None without any.

    Raises ValueError for passes outside 0..attempts and `conf` outside (0, 1).
    """
    for cell in (cell for task in tasks for cell in _cells(task)):
        if not 0 <= cell[0] <= cell[1]:
            raise ValueError(f"passes lie between 0 and the attempts, not {cell[0]} of {cell[1]}")
    full = [tuple(Fraction(*cell) for cell in _cells(task)) for task in tasks if all(n for _, n in _cells(task))]
    if full:
        return GapSplit(
            task_mean([a1 - b2 for a1, _, _, b2 in full], conf=conf),
            task_mean([(a1 - b1 + a2 - b2) / 2 for a1, a2, b1, b2 in full], conf=conf),
            task_mean([(a1 - a2 + b1 - b2) / 2 for a1, a2, b1, b2 in full], conf=conf),
            len(tasks) - len(full),
        )
    diagonal = [Fraction(*task.a1) - Fraction(*task.b2) for task in tasks if task.a1[1] and task.b2[1]]
    if not diagonal:
        return None
    return GapSplit(task_mean(diagonal, conf=conf), None, None, len(tasks) - len(diagonal))


def _cells(task: CrossedTask) -> tuple[Cell, Cell, Cell, Cell]:
    return task.a1, task.a2, task.b1, task.b2
