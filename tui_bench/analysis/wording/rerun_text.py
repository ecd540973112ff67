"""What the re-run flips say, in one line and what must be said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_bench.analysis.wording.numbers import counted, names_text, p_text, two_digits

if TYPE_CHECKING:
    from tui_bench.analysis.reruns import Rerun, RerunTask

_TASKS_ROOM = 120


def rerun_lines(rerun: Rerun, alpha: float, *, named: bool = False) -> list[str]:
    """`re-run of 1 flipped task, 5 fresh attempts a side: box (p = 0.0079): t02 5/5 -> 0/5`, and what limits it.

    `named` puts the pair of environments in front, for ledgers with more than two.
    """
    pair = f"{rerun.env_a} vs {rerun.env_b}: " if named else ""
    head = f"{pair}re-run of {_tasks(rerun)}"
    if rerun.verdict is None:
        made = f"{rerun.made} of {counted(rerun.registered, 'fresh attempt')} made"
        return [f"{head}: {made}, no verdict before the last"]
    void = f", {rerun.void} void" if rerun.void else ""
    listed = names_text([_counts(task) for task in rerun.tasks], _TASKS_ROOM)
    first = f"{head}, {_sides(rerun)} a side{void}: {rerun.verdict} ({_p(rerun)}): {listed}"
    return [first, *_beside(rerun, alpha)]


def _tasks(rerun: Rerun) -> str:
    again = len(rerun.tasks)
    return counted(again, "flipped task") if again == rerun.flipped else f"{again} of {rerun.flipped} flipped tasks"


def _sides(rerun: Rerun) -> str:
    numbers = sorted({side.registered for task in rerun.tasks for side in (task.a, task.b)})
    return counted(numbers[0], "fresh attempt") if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]} fresh attempts"


def _p(rerun: Rerun) -> str:
    if rerun.p is None:
        return "no task with 2 verdicts a side"
    adjusted = f" after Holm's adjustment for {rerun.pairs} pairs" if rerun.pairs > 1 else ""
    return p_text(rerun.p) + adjusted


def _counts(task: RerunTask) -> str:
    a, b = (f"{side.passes}/{side.scored}" for side in (task.a, task.b))
    same = task.a.passes * task.b.scored == task.b.passes * task.a.scored
    return f"{task.task} {a} {'=' if same else '->'} {b}"


def _beside(rerun: Rerun, alpha: float) -> list[str]:
    if rerun.at_least is not None:
        pairs = counted(rerun.scored, "pair")
        return [f"excess over all {pairs} at least {float(rerun.at_least):+.2f}: unflipped tasks were not run again"]
    if rerun.verdict != "undecided" or rerun.reachable_p is None or rerun.reachable_p <= alpha:
        return []
    return [f"so few fresh attempts cannot show a box: the smallest p they reach is {two_digits(rerun.reachable_p)}"]
