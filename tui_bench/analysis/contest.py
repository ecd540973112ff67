"""Two or more agents side by side: who solved what, and whether the gates allow a name to be put first.

The unit is the task at the declared attempt in the ledger's first environment, the reference box. A winner is named
only when the run is over, every pair is closed, every gate is open, the registered test (mid-p McNemar) is significant
and the net gap is larger than the number of tasks the box moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.gate import GateResult
from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.stats.paired import mcnemar_midp

ETA_NEEDS = 5
"""Finished attempts below which no time left is shown."""
_SCORED = (Code.PASS, Code.FAIL)


@dataclass(frozen=True, slots=True)
class Contest:
    """Agents in ledger order. `wins`: tasks only that agent of a pair solved; for three or more, tasks solved."""

    agents: tuple[str, ...]
    wins: tuple[int, ...]
    closed: int
    """Tasks with a row of every agent."""
    left: int
    over: bool
    """No further row is expected: before that the standing may still change, whatever the closed pairs say."""
    attempts_left: int
    """Attempts that have no row yet, of every round and environment and of registered re-runs."""
    moved: int
    """Tasks that flipped with the box, for any agent."""
    p: Fraction | None
    """mid-p McNemar for two agents."""
    winner: str | None
    eta_s: tuple[float, float] | None
    """Seconds left, from the middle half of finished attempts; None when too few or over."""


def contest(state: RunState, gates: Sequence[GateResult]) -> Contest | None:
    """The standing of a ledger with at least two agents; None for fewer."""
    if len(state.agents) < 2:
        return None
    env = next(iter(state.env_names()), "")
    number = state.rule.declared_attempt
    rows = [
        [state.cell(task, env, agent).code(number) for agent in state.agents] for task in state.counted_tasks()
    ]
    closed = [row for row in rows if Code.MISSING not in row]
    scored = [row for row in closed if all(code in _SCORED for code in row)]
    wins = _wins(scored, len(state.agents))
    moved = {task.task for one in gates if one.table for task in one.table.tasks if task.mark == "flip"}
    p = mcnemar_midp(wins[0], wins[1]) if len(wins) == 2 else None
    left = len(rows) - len(closed)
    return Contest(
        agents=tuple(state.agents), wins=wins, closed=len(closed), left=left, over=state.over,
        attempts_left=_attempts_left(state), moved=len(moved), p=p,
        winner=_winner(state, gates, wins, p, left, len(moved)), eta_s=_eta(state),
    )  # fmt: skip


def _wins(scored: Sequence[Sequence[Code]], agents: int) -> tuple[int, ...]:
    if agents > 2:
        return tuple(sum(row[i] is Code.PASS for row in scored) for i in range(agents))
    return tuple(sum(row[i] is Code.PASS and row[1 - i] is Code.FAIL for row in scored) for i in range(2))


def _winner(
    state: RunState, gates: Sequence[GateResult], wins: Sequence[int], p: Fraction | None, left: int, moved: int
) -> str | None:
    held = state.over and left == 0 and all(one.state == "open" for one in gates)
    if not held or p is None or p > Fraction(state.rule.alpha) or abs(wins[0] - wins[1]) <= moved:
        return None
    return state.agents[0] if wins[0] > wins[1] else state.agents[1]


def _attempts_left(state: RunState) -> int:
    fresh = (max(0, wanted - state.cell(*key).fresh_done()) for key, wanted in state.registered.items())
    return max(0, state.planned - state.done) + sum(fresh)


def _eta(state: RunState) -> tuple[float, float] | None:
    remaining = state.planned - state.done
    if state.over or remaining <= 0 or len(state.walls) < ETA_NEEDS or state.run is None:
        return None
    walls = sorted(state.walls)
    rounds = remaining / max(1, state.run.jobs) / 1000
    return walls[len(walls) // 4] * rounds, walls[(3 * len(walls)) // 4] * rounds
