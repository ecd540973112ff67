"""What the grid asks of a run: its rows and columns, the signs of a cell, the marks and the reason of a row.

A reader of `RunState` that stores nothing of its own, so it is never out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tui_bench.analysis.state import FLAKY, Cell, CellKey, Code, Running, RunState
from tui_bench.tui.clock import age, seconds_since

Sign = Literal["passed", "failed", "void", "running", "queued", "absent", "flaky_passed", "flaky_failed"]

_SIGNS: dict[Code, Sign] = {
    Code.MISSING: "queued",
    Code.PASS: "passed",
    Code.FAIL: "failed",
    Code.VOID: "void",
}
_SCORED = (Code.PASS, Code.FAIL)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of cells. `agent` is "" where the study has none."""

    agent: str
    env: str


class Board:
    """The grid's view of one run."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    @property
    def tasks(self) -> list[str]:
        """Task ids in ledger order."""
        return self._state.task_names()

    @property
    def columns(self) -> tuple[Column, ...]:
        """Environments within agents, in ledger order."""
        environments = self._state.env_names()
        return tuple(Column(agent, env) for agent in self._state.agents for env in environments)

    @property
    def attempts(self) -> int:
        """Attempts planned in each cell."""
        return self._state.attempts

    @property
    def declared(self) -> int:
        """Number of the attempt that counts."""
        return self._state.rule.declared_attempt

    def cell(self, task: str, column: Column) -> Cell:
        """One cell; an empty one where no row has named it."""
        return self._state.cell(task, column.env, column.agent)

    @property
    def running(self) -> list[Running]:
        """Attempts that run now, in all tasks."""
        return list(self._state.running.values())

    def running_in(self, task: str) -> list[Running]:
        """Attempts of this task that run now, oldest first."""
        return [one for one in self._state.running.values() if one.key[0] == task]

    def signs(self, task: str, column: Column) -> list[Sign]:
        """One sign per planned attempt, in order."""
        cell = self._state.cell(task, column.env, column.agent)
        if task in self._state.excluded and not cell.done():
            return ["absent"] * self.attempts
        signs = [_sign(cell, number) for number in range(self.attempts)]
        key = (task, column.env, column.agent)
        for one in self._state.running.values():
            if one.key == key and one.role == "planned" and 0 <= one.number < self.attempts:
                signs[one.number] = "running"
        return signs

    def flips(self, task: str) -> list[bool]:
        """Per agent: whether the declared attempt has a pass in one environment and a fail in another."""
        environments = self._state.env_names()
        return [
            {Code.PASS, Code.FAIL} <= {self._declared(task, env, agent) for env in environments}
            for agent in self._state.agents
        ]

    def unequal(self, task: str) -> bool:
        """Whether the agents' declared attempts differ in an environment in which they are scored."""
        for env in self._state.env_names():
            codes = {self._declared(task, env, agent) for agent in self._state.agents}
            if codes >= {Code.PASS, Code.FAIL}:
                return True
        return False

    def why(self, task: str, now: float) -> str:
        """What is to be said about a row, the weightiest first; "" when there is nothing. Not cleaned yet."""
        excluded = self._state.excluded.get(task)
        if excluded is not None:
            return f"excluded: {excluded.outcome}" + (
                f", {excluded.reason}" if excluded.reason and excluded.reason != excluded.outcome else ""
            )
        parts = [*self._voids(task), *self._flip_words(task), *self._noise(task)]
        parts += [self._running_words(one, now) for one in self.running_in(task)]
        return "; ".join(parts)

    def _declared(self, task: str, env: str, agent: str) -> Code:
        return self._state.cell(task, env, agent).code(self._state.rule.declared_attempt)

    def _cells(self, task: str) -> list[tuple[CellKey, Cell]]:
        keys = ((task, column.env, column.agent) for column in self.columns)
        return [(key, self._state.cells[key]) for key in keys if key in self._state.cells]

    def _who(self, key: CellKey) -> str:
        """A cell's name within its row; the agent is left out where there is only one."""
        return " ".join(part for part in (key[2] if len(self._state.agents) > 1 else "", key[1]) if part)

    def _voids(self, task: str) -> list[str]:
        by_cause: dict[str, list[str]] = {}
        for key, cell in self._cells(task):
            for number in range(len(cell)):
                cause = cell.cause(number)
                if cause is not None and self._who(key) not in by_cause.setdefault(cause, []):
                    by_cause[cause].append(self._who(key))
        return [f"void {cause} ({', '.join(places)})" for cause, places in by_cause.items()]

    def _flip_words(self, task: str) -> list[str]:
        flipping = [agent for agent, flips in zip(self._state.agents, self.flips(task), strict=True) if flips]
        if not flipping:
            return []
        named = f"{' and '.join(flipping)} " if len(self._state.agents) > 1 else ""
        return [f"{named}{'flip' if len(flipping) > 1 else 'flips'} with the box"]

    def _running_words(self, one: Running, now: float) -> str:
        """Phase, time since the start, and the limit of the phase where the ledger names one."""
        since = seconds_since(one.since, now)
        took = f" {age(since)}" if since is not None else ""
        limit = self._limit(one)
        within = f", limit {age(limit)}" if limit is not None else ""
        return f"{one.phase or 'starting'}{took}{within} ({self._who(one.key)} #{one.number + 1})"

    def _limit(self, one: Running) -> float | None:
        """Seconds that the phase may take by what the ledger says; None where it says nothing."""
        task, env, agent = one.key
        facts = self._state.environments.get(env)
        limits = [facts.timeout_s] if facts else []
        if one.phase == "agent" and self._state.run is not None:
            limits += [fact.timeout_s for fact in self._state.run.agents if fact.name == agent]
        elif one.phase in ("verify", "replays") and task in self._state.tasks:
            limits.append(self._state.tasks[task].verify_timeout_s)
        elif one.phase not in ("agent", "verify", "replays"):
            return None
        return min((limit for limit in limits if limit is not None), default=None)

    def _noise(self, task: str) -> list[str]:
        """Same tree, same box, different verdicts is the test's fault; attempts that differ are the agent's."""
        cells = self._cells(task)
        flaky = [self._who(key) for key, cell in cells if cell.flaky()]
        unstable = [self._who(key) for key, cell in cells if cell.unstable()]
        words = [f"flaky test ({', '.join(flaky)})"] if flaky else []
        return words + ([f"attempts differ in {', '.join(unstable)}"] if unstable else [])


def _sign(cell: Cell, number: int) -> Sign:
    code = cell.code(number)
    if code in _SCORED and cell.flags(number) & FLAKY:
        return "flaky_passed" if code is Code.PASS else "flaky_failed"
    return _SIGNS[code]


def newest_running(running: Sequence[Running]) -> Running | None:
    """The attempt that began last."""
    return max(running, key=lambda one: one.since, default=None)
