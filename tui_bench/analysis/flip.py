"""The flip table: for each task, the verdict in one environment beside the verdict in another.

A pair is one task in two environments at the declared attempt. planned = scored + void + missing; a pair with a void
side is void whatever the other side says. Excluded tasks are no pairs. Rates are exact fractions, None where nothing
was scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from tui_bench.analysis.state import Cell, Code, RunState
from tui_bench.analysis.stats.excess import Excess, excess_disagreement
from tui_bench.analysis.stats.proportion import clopper_pearson
from tui_bench.errors import UsageError
from tui_bench.ledger.rows import CONDUCT_CAUSES

Mark = Literal["flip", "same", "both_fail", "void", "missing"]
Tier = Literal["QUIET", "NOISY", "LOUD"]

NOISY_UP_TO = Fraction(2, 12)
"""The published reading of twelve tasks, as a rate: 0 quiet, up to 2 of 12 noisy, above loud."""
_WORDS = {Code.PASS: "pass", Code.FAIL: "fail", Code.VOID: "void", Code.MISSING: None}


@dataclass(frozen=True, slots=True)
class Side:
    """One task in one environment. `code` is the verdict at the declared attempt, `verdicts` all attempts in order."""

    code: Code
    passes: int
    scored: int
    done: int
    unstable: bool
    """Attempts disagree with one another."""
    flaky: bool
    """Verify runs of one final tree disagree."""
    cause: str | None
    exit_code: int | None
    verdicts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FlipTask:
    """One row of the table."""

    task: str
    a: Side
    b: Side
    mark: Mark

    @property
    def unstable(self) -> bool:
        """Whether attempts in one of the two environments disagree."""
        return self.a.unstable or self.b.unstable

    @property
    def down(self) -> bool:
        """PASS in the first environment, FAIL in the second."""
        return self.mark == "flip" and self.a.code is Code.PASS


@dataclass(frozen=True, slots=True)
class FlipTable:
    """All pairs of one agent over two environments. `lower` and `upper`: exact two-sided 95 % interval of the rate."""

    agent: str
    env_a: str
    env_b: str
    attempt: int
    tasks: tuple[FlipTask, ...]
    excluded: int
    complete: int
    """Pairs with a row on both sides, void or not."""
    scored: int
    void: int
    missing: int
    down: int
    up: int
    both_fail: int
    passes_a: int
    """Passes among scored pairs."""
    passes_b: int
    lower: float | None
    upper: float | None
    excess: Excess | None
    """None where no task has two scored attempts in both environments."""

    @property
    def planned(self) -> int:
        return len(self.tasks)

    @property
    def flips(self) -> int:
        return self.down + self.up

    @property
    def rate(self) -> Fraction | None:
        """Flips of scored pairs."""
        return Fraction(self.flips, self.scored) if self.scored else None

    @property
    def tier(self) -> Tier | None:
        """Reading of the published decision table by exact fraction; None where nothing was scored."""
        if self.rate is None:
            return None
        if self.rate == 0:
            return "QUIET"
        return "NOISY" if self.rate <= NOISY_UP_TO else "LOUD"

    @property
    def expected_flips(self) -> Fraction | None:
        """Flips among the scored pairs that same-box disagreement alone would bring; None where that is unknown."""
        return None if self.excess is None else self.excess.within * self.scored

    @property
    def attempts_left(self) -> int:
        """Planned attempts of this table's cells that have no row yet."""
        return sum(
            len(side.verdicts) - side.done for task in self.tasks for side in (task.a, task.b)
        )

    def void_causes(self) -> Counter[str]:
        """First cause of each void pair; the first environment's where both sides are void."""
        return Counter(void_side(task).cause or "other" for task in self.tasks if task.mark == "void")

    def flips_if_conduct_fails(self) -> tuple[int, int]:
        """(flips, pairs) if an attempt voided by the agent's own conduct counted as a fail."""
        flips = pairs = 0
        for task in self.tasks:
            a, b = _as_fail(task.a), _as_fail(task.b)
            if a in _SCORED and b in _SCORED:
                pairs += 1
                flips += a is not b
        return flips, pairs


_SCORED = (Code.PASS, Code.FAIL)


def void_side(task: FlipTask) -> Side:
    """The side that made a pair void."""
    return task.a if task.a.code is Code.VOID else task.b


def flip_table(state: RunState, agent: str, env_a: str, env_b: str, attempt: int | None = None) -> FlipTable:
    """The table of one agent at one attempt; the rule's declared attempt where none is given.

    Raises UsageError for an environment, agent or attempt that the ledger does not have.
    """
    number = state.rule.declared_attempt if attempt is None else attempt
    _check_names(state, agent, (env_a, env_b), number)
    tasks = tuple(
        _row(name, state.cell(name, env_a, agent), state.cell(name, env_b, agent), state.attempts, number)
        for name in state.counted_tasks()
    )
    marks = Counter(task.mark for task in tasks)
    scored = marks["flip"] + marks["same"] + marks["both_fail"]
    down = sum(task.down for task in tasks)
    interval = clopper_pearson(marks["flip"], scored) if scored else (None, None)
    return FlipTable(
        agent=agent, env_a=env_a, env_b=env_b, attempt=number, tasks=tasks, excluded=len(state.excluded),
        complete=sum(task.a.code is not Code.MISSING and task.b.code is not Code.MISSING for task in tasks),
        scored=scored, void=marks["void"], missing=marks["missing"], down=down, up=marks["flip"] - down,
        both_fail=marks["both_fail"], passes_a=_passes([(task.mark, task.a) for task in tasks]),
        passes_b=_passes([(task.mark, task.b) for task in tasks]), lower=interval[0], upper=interval[1],
        excess=excess_disagreement((t.a.passes, t.a.scored, t.b.passes, t.b.scored) for t in tasks),
    )  # fmt: skip


def flip_tables(
    state: RunState, agent: str | None = None, pair: tuple[str, str] | None = None, attempt: int | None = None
) -> list[FlipTable]:
    """A table for every agent and every pair of environments, or for those named.

    Raises UsageError for names that the ledger does not have, and where it holds fewer than two environments.
    """
    envs = state.env_names()
    if pair is None and len(envs) < 2:
        known = ", ".join(envs) or "none"
        raise UsageError(f"a flip needs two environments; the ledger has {len(envs)}: {known}")
    agents = state.agents if agent is None else [agent]
    pairs = list(combinations(envs, 2)) if pair is None else [pair]
    return [flip_table(state, name, env_a, env_b, attempt) for name in agents for env_a, env_b in pairs]


def flip_json(table: FlipTable) -> dict[str, object]:
    """The published `--json` shape; fractions are strings, verdicts pass | fail | void, null where there is none."""
    excess = table.excess
    return {
        "agent": table.agent or None,
        "env_a": table.env_a,
        "env_b": table.env_b,
        "attempt": table.attempt,
        "planned": table.planned,
        "complete": table.complete,
        "scored": table.scored,
        "void": table.void,
        "missing": table.missing,
        "flips": table.flips,
        "down": table.down,
        "up": table.up,
        "rate": None if table.rate is None else str(table.rate),
        "tier": table.tier,
        "lower": table.lower,
        "upper": table.upper,
        "excess": None if excess is None else str(excess.excess),
        "excess_p": None if excess is None else excess.p,
        "tasks": [
            {"task": task.task, "a": list(task.a.verdicts), "b": list(task.b.verdicts), "mark": task.mark}
            for task in table.tasks
        ],
    }


def _row(name: str, a: Cell, b: Cell, attempts: int, number: int) -> FlipTask:
    left, right = _side(a, attempts, number), _side(b, attempts, number)
    codes = (left.code, right.code)
    mark: Mark
    if Code.VOID in codes:
        mark = "void"
    elif Code.MISSING in codes:
        mark = "missing"
    elif left.code is not right.code:
        mark = "flip"
    else:
        mark = "both_fail" if left.code is Code.FAIL else "same"
    return FlipTask(name, left, right, mark)


def _side(cell: Cell, attempts: int, number: int) -> Side:
    return Side(
        code=cell.code(number), passes=cell.passes(), scored=cell.scored(), done=cell.done(),
        unstable=cell.unstable(), flaky=cell.flaky(), cause=cell.cause(number), exit_code=cell.exit_code(number),
        verdicts=tuple(_WORDS[cell.code(n)] for n in range(max(attempts, len(cell)))),
    )  # fmt: skip


def _passes(sides: Sequence[tuple[Mark, Side]]) -> int:
    return sum(mark not in ("void", "missing") and side.code is Code.PASS for mark, side in sides)


def _as_fail(side: Side) -> Code:
    return Code.FAIL if side.code is Code.VOID and side.cause in CONDUCT_CAUSES else side.code


def _check_names(state: RunState, agent: str, envs: Sequence[str], number: int) -> None:
    known = state.env_names()
    for env in envs:
        if env not in known:
            raise UsageError(f'env "{env}" not in ledger; known: {", ".join(known) or "none"}')
    if envs[0] == envs[1]:
        raise UsageError(f'env "{envs[0]}" cannot be compared with itself; known: {", ".join(known)}')
    if agent not in state.agents:
        names = ", ".join(name for name in state.agents if name) or "none, the study has no agent"
        raise UsageError(f'agent "{agent}" not in ledger; known: {names}')
    if not 0 <= number < state.attempts:
        raise UsageError(f"attempt {number} is not planned; 0 to {state.attempts - 1} are")
