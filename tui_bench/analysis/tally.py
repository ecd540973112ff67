"""How each agent did in each environment, and why attempts were void: the numbers of the side panes, from the state.

The unit is the task. Counts are of tasks by the declared attempt; repeats only enter the task means, whose interval
takes the task as the group. None is not known, and never zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from tui_bench.analysis.state import CAPPED, Cell, CellKey, Code, RunState
from tui_bench.analysis.stats.clustered import mean_interval
from tui_bench.analysis.stats.proportion import Interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """One agent in one environment, over the tasks that are not excluded. `passed` to `missing` add up to the tasks."""

    agent: str
    env: str
    passed: int
    failed: int
    void: int
    missing: int
    rate_interval: Interval | None
    """Wilson, 95 %; None where nothing is scored."""
    means: int
    """Tasks with at least one scored attempt."""
    mean: Fraction | None
    """Mean over tasks of the share of scored attempts that passed."""
    mean_interval: Interval | None
    """95 %, task-clustered; None for fewer than two tasks and where all task means are equal."""
    tokens: int
    """Tokens in and out of scored declared attempts, as far as known."""
    tokens_known: int
    """Scored declared attempts with known tokens."""
    wall_p50_ms: float | None
    """Middle duration of scored declared attempts; the mean of the middle two for an even count."""
    wall_known: int
    wall_at_least: bool
    """Half or more hit their limit: the middle one took at least that long."""
    capped: int

    @property
    def scored(self) -> int:
        """Tasks with a verdict."""
        return self.passed + self.failed

    @property
    def rate(self) -> Fraction | None:
        """Passes of scored tasks."""
        return Fraction(self.passed, self.scored) if self.scored else None

    @property
    def tokens_per_solved(self) -> Fraction | None:
        """Tokens of all scored declared attempts per solved task; None when one is unknown or none is solved."""
        if not self.passed or self.tokens_known < self.scored:
            return None
        return Fraction(self.tokens, self.passed)


@dataclass(frozen=True, slots=True)
class VoidReason:
    """Counting rows of one first cause. `first` is the first cell in ledger order that has one."""

    cause: str
    count: int
    first: CellKey


@dataclass(frozen=True, slots=True)
class VoidTasks:
    """Tasks whose declared attempt is void in any environment, for one agent, and how many the rule lets pass."""

    agent: str
    tasks: int
    planned: int
    limit: int


def tallies(state: RunState) -> list[Tally]:
    """One for every agent and environment, in ledger order."""
    tasks = state.counted_tasks()
    return [
        _tally(agent, env, [state.cell(task, env, agent) for task in tasks], state.rule.declared_attempt)
        for agent in state.agents
        for env in state.env_names()
    ]


def void_reasons(state: RunState) -> list[VoidReason]:
    """Causes that have rows, most frequent first, then by name."""
    counts: dict[str, int] = {}
    for (cause, _), count in state.void_counts.items():
        counts[cause] = counts.get(cause, 0) + count
    wanted = {cause for cause, count in counts.items() if count > 0}
    first: dict[str, CellKey] = {}
    for task in state.task_names() if wanted else ():
        for agent in state.agents:
            for env in state.env_names():
                for cause in state.cell(task, env, agent).causes() & wanted:
                    first.setdefault(cause, (task, env, agent))
                    wanted.discard(cause)
        if not wanted:
            break
    found = [VoidReason(cause, counts[cause], key) for cause, key in first.items()]
    return sorted(found, key=lambda one: (-one.count, one.cause))


def void_tasks(state: RunState) -> list[VoidTasks]:
    """One for every agent, in ledger order."""
    number, tasks, envs = state.rule.declared_attempt, state.counted_tasks(), state.env_names()
    limit = int(len(tasks) * Fraction(state.rule.void_stop))
    return [
        VoidTasks(
            agent,
            sum(any(state.cell(task, env, agent).code(number) is Code.VOID for env in envs) for task in tasks),
            len(tasks),
            limit,
        )
        for agent in state.agents
    ]


def _tally(agent: str, env: str, cells: Sequence[Cell], number: int) -> Tally:
    codes = [cell.code(number) for cell in cells]
    passed, failed = codes.count(Code.PASS), codes.count(Code.FAIL)
    scored = [cell for cell, code in zip(cells, codes, strict=True) if code in (Code.PASS, Code.FAIL)]
    means = [Fraction(cell.passes(), cell.scored()) for cell in cells if cell.scored()]
    tokens = [known for cell in scored if (known := cell.tokens(number)) is not None]
    walls = [known for cell in scored if (known := cell.wall_ms(number)) is not None]
    capped = [cell.wall_ms(number) or 0 for cell in scored if cell.flags(number) & CAPPED]
    at_least = bool(capped) and 2 * len(capped) >= len(scored)
    return Tally(
        agent=agent, env=env, passed=passed, failed=failed, void=codes.count(Code.VOID),
        missing=codes.count(Code.MISSING), rate_interval=wilson(passed, len(scored)) if scored else None,
        means=len(means), mean=sum(means, Fraction(0)) / len(means) if means else None,
        mean_interval=mean_interval([float(mean) for mean in means]), tokens=sum(tokens), tokens_known=len(tokens),
        wall_p50_ms=min(capped) if at_least else median(walls) if walls else None, wall_known=len(walls),
        wall_at_least=at_least, capped=len(capped),
    )  # fmt: skip
