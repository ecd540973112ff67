"""Registered re-runs of flipped tasks: is it the box, or would the verdict have changed in one box as well?

A task is run again because it flipped, so its planned attempts say nothing any more: only fresh attempts are tested.
For each agent and pair of environments, once every registered attempt has its row:

    box          the permutation test of the pooled excess over the re-run tasks reaches alpha
    noise        it does not, and either the exact test below rejects a box that decides, or no task differs at all
                 (equal pass shares, 5 or more fresh verdicts a side)
    undecided    neither

A box decides when three of four fresh attempts come out as in the flip: passes where it passed, fails where it failed.
With equal sides that is a difference of one half in the pass rates; attempts that do not care for the box come to one
of two. The tail P(X <= seen) for X binomial(n, 3/4) bounds the probability for every mixture of tasks (Hoeffding 1956).
With one task and 5 attempts a side a box that decides it is called noise at most 8 times of 100, less with more of
either; equal boxes are called a box at most alpha times, whatever made the first attempts differ.

With more than two environments p is Holm-adjusted over the pairs of one agent. Tasks that did not flip are not measured
again, so the excess over all pairs is a lower bound: "at least".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Literal

from tui_bench.analysis.flip import FlipTable
from tui_bench.analysis.state import Cell, Code, RunState
from tui_bench.analysis.stats.excess import Excess, excess_disagreement
from tui_bench.analysis.stats.paired import holm
from tui_bench.analysis.stats.proportion import at_most

RerunVerdict = Literal["box", "agent noise", "test noise", "undecided"]
"""Noise is the agent's, or the test's own where the subject is frozen."""

DECIDES = Fraction(3, 4)
"""Share of fresh attempts that come out as in the flip, from which on the box decides the task."""
SAME_NEEDS = 5
"""Fresh verdicts a side from which on equal shares in every task are taken for noise."""
_SCORED = (Code.PASS, Code.FAIL)


@dataclass(frozen=True, slots=True)
class Fresh:
    """Fresh attempts of one cell. `registered` is how many there are to be."""

    passes: int
    scored: int
    void: int
    registered: int

    @property
    def made(self) -> int:
        """Attempts with a row, at most as many as registered."""
        return min(self.scored + self.void, self.registered)


@dataclass(frozen=True, slots=True)
class RerunTask:
    """One flipped task. `down`: it passed in the first environment when it flipped."""

    task: str
    down: bool
    a: Fresh
    b: Fresh
    p: float | None
    """Exact two-sided permutation p of this task alone; None with fewer than two verdicts on a side."""

    @property
    def same(self) -> bool:
        """Equal shares of passes, with enough verdicts on both sides to take that for something."""
        enough = min(self.a.scored, self.b.scored) >= SAME_NEEDS
        return enough and self.a.passes * self.b.scored == self.b.passes * self.a.scored

    @property
    def as_flipped(self) -> int:
        """Fresh verdicts that came out as in the flip."""
        passed, failed = (self.a, self.b) if self.down else (self.b, self.a)
        return passed.passes + failed.scored - failed.passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """Re-run flips of one agent over two environments. None is not known before the last attempt has its row."""

    agent: str
    env_a: str
    env_b: str
    tasks: tuple[RerunTask, ...]
    flipped: int
    """Flipped tasks of the pair now, registered or not."""
    scored: int
    """Scored pairs of the table, flipped or not."""
    verdict: RerunVerdict | None
    excess: Excess | None = None
    """Over the re-run tasks with two or more fresh verdicts on both sides."""
    p: float | None = None
    """Of the excess, adjusted over `pairs`."""
    pairs: int = 1
    decides_p: float | None = None
    """P(so few fresh attempts come out as in the flip) if the box decided the tasks."""
    reachable_p: float | None = None
    """Smallest p of the excess that so many fresh verdicts can reach."""

    @property
    def registered(self) -> int:
        return sum(task.a.registered + task.b.registered for task in self.tasks)

    @property
    def made(self) -> int:
        """Registered attempts that have a row."""
        return sum(task.a.made + task.b.made for task in self.tasks)

    @property
    def void(self) -> int:
        return sum(task.a.void + task.b.void for task in self.tasks)

    @property
    def at_least(self) -> Fraction | None:
        """Excess over all scored pairs of the table if no other task had any; None unless the box is shown."""
        if self.verdict != "box" or self.excess is None or not self.scored:
            return None
        return self.excess.excess * self.excess.tasks / self.scored

    def turned(self) -> Rerun:
        """The same with the environments changed about."""
        tasks = tuple(replace(task, down=not task.down, a=task.b, b=task.a) for task in self.tasks)
        return replace(self, env_a=self.env_b, env_b=self.env_a, tasks=tasks)


def reruns(state: RunState, agent: str) -> list[Rerun]:
    """Re-runs of one agent, a pair of environments each, as the flip tables go; empty where none is registered."""
    if not any(key[2] == agent for key in state.registered):
        return []
    found = [_of_pair(state, agent, a, b) for a, b in combinations(state.env_names(), 2)]
    kept = [one for one in found if one.tasks]
    # A pair that has no p yet will have one: its place in the adjustment is kept.
    adjusted = holm([1.0 if one.p is None else one.p for one in kept])
    return [
        _judged(state, one, None if one.p is None else p, len(kept)) for one, p in zip(kept, adjusted, strict=True)
    ]


def rerun_of(state: RunState, table: FlipTable) -> Rerun | None:
    """The re-run that belongs to a table, in its order of environments; None for another than the declared attempt."""
    if table.attempt != state.rule.declared_attempt:
        return None
    for one in reruns(state, table.agent):
        if {one.env_a, one.env_b} == {table.env_a, table.env_b}:
            return one if one.env_a == table.env_a else one.turned()
    return None


def rerun_json(one: Rerun) -> dict[str, object]:
    """`reruns` of a flip table in `--json`: counts are [passes, verdicts, void]."""
    return {
        "flipped": one.flipped,
        "registered": one.registered,
        "made": one.made,
        "verdict": one.verdict,
        "p": one.p,
        "pairs": one.pairs,
        "excess": None if one.excess is None else str(one.excess.excess),
        "at_least": None if one.at_least is None else str(one.at_least),
        "tasks": [
            {
                "task": task.task,
                "a": [task.a.passes, task.a.scored, task.a.void],
                "b": [task.b.passes, task.b.scored, task.b.void],
                "p": task.p,
            }
            for task in one.tasks
        ],
    }


def _of_pair(state: RunState, agent: str, env_a: str, env_b: str) -> Rerun:
    """Counts and tests of one pair; the verdict is left to `_judged`, which knows the other pairs."""
    number = state.rule.declared_attempt
    tasks: list[RerunTask] = []
    flipped = scored = 0
    for name in state.counted_tasks():
        a, b = state.cell(name, env_a, agent), state.cell(name, env_b, agent)
        if a.code(number) not in _SCORED or b.code(number) not in _SCORED:
            continue
        scored += 1
        if a.code(number) is b.code(number):
            continue
        flipped += 1
        wanted = [state.registered.get((name, env, agent), 0) for env in (env_a, env_b)]
        if all(wanted):
            tasks.append(_task(name, a.code(number) is Code.PASS, _fresh(a, wanted[0]), _fresh(b, wanted[1])))
    bare = Rerun(
        agent=agent, env_a=env_a, env_b=env_b, tasks=tuple(tasks), flipped=flipped, scored=scored, verdict=None
    )
    return bare if bare.made < bare.registered or not tasks else _tested(bare)


def _task(name: str, down: bool, a: Fresh, b: Fresh) -> RerunTask:
    alone = excess_disagreement([(a.passes, a.scored, b.passes, b.scored)])
    return RerunTask(name, down, a, b, None if alone is None else alone.p)


def _fresh(cell: Cell, registered: int) -> Fresh:
    return Fresh(cell.fresh_passed, cell.fresh_passed + cell.fresh_failed, cell.fresh_void, registered)


def _tested(one: Rerun) -> Rerun:
    excess = excess_disagreement((t.a.passes, t.a.scored, t.b.passes, t.b.scored) for t in one.tasks)
    most = excess_disagreement((t.a.scored, t.a.scored, 0, t.b.scored) for t in one.tasks)
    verdicts = sum(task.a.scored + task.b.scored for task in one.tasks)
    seen = sum(task.as_flipped for task in one.tasks)
    return replace(
        one, excess=excess, p=None if excess is None else excess.p, reachable_p=None if most is None else most.p,
        decides_p=at_most(seen, verdicts, float(DECIDES)) if verdicts else None,
    )  # fmt: skip


def _judged(state: RunState, one: Rerun, p: float | None, pairs: int) -> Rerun:
    if one.made < one.registered:
        return one
    verdict = _verdict(one.tasks, p, one.decides_p, Fraction(state.rule.alpha), live=state.subject == "agent")
    return replace(one, p=p, pairs=pairs, verdict=verdict)


def _verdict(
    tasks: Sequence[RerunTask], p: float | None, decides_p: float | None, alpha: Fraction, *, live: bool
) -> RerunVerdict:
    if p is not None and p <= alpha:
        return "box"
    if (decides_p is not None and decides_p <= alpha) or all(task.same for task in tasks):
        return "agent noise" if live else "test noise"
    return "undecided"
