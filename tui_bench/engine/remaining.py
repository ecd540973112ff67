"""What is left to do of a plan, given the rows of its ledger.

Done is every attempt whose counting row stands: pass, fail, or a void that is not run again. An attempt lost to the
instrument before a verdict was seen is made again as a new row that names the one it replaces, at most twice a cell.
Registered fresh attempts of flipped tasks are left to do by the same rules; a probe never is.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tui_bench.engine.context import Job
from tui_bench.engine.plan import Plan, Planned
from tui_bench.ledger.registered import Registered, registered
from tui_bench.ledger.rows import REPLACE_LIMIT, REPLACEABLE_CAUSES, AnyRow, AttemptRow, EventRow, Role, RunRow

Place = tuple[str, str, str, int]
"""task, env, agent, attempt."""


@dataclass(slots=True)
class Standing:
    """The newest row of one planned attempt. `chain`: rows of this attempt so far."""

    seq: int
    void: str | None
    chain: int


@dataclass(slots=True)
class History:
    """What a ledger says of its plan."""

    run: RunRow | None = None
    standing: dict[Place, Standing] = field(default_factory=dict)
    open: dict[str, EventRow] = field(default_factory=dict)
    """attempt_id -> `started` event of attempts that have no row."""
    excluded: set[str] = field(default_factory=set)
    screened: dict[tuple[str, str], str] = field(default_factory=dict)
    """(task, env) -> outcome of its clean verify."""
    ended: bool = False
    fresh: dict[Place, Standing] = field(default_factory=dict)
    """Newest row of each attempt of role `rerun`."""
    registered: dict[tuple[str, str, str], Registered] = field(default_factory=dict)
    """Cell -> the fresh attempts registered for it, in the ledger's order."""
    beyond: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Cell -> first number that neither an attempt outside the plan nor a registration has taken."""

    def add(self, row: AnyRow) -> None:
        if isinstance(row, RunRow):
            self.run = self.run or row
            self.ended = False
        elif isinstance(row, AttemptRow):
            self._attempt(row)
        elif isinstance(row, EventRow):
            self._event(row)

    def _attempt(self, row: AttemptRow) -> None:
        self.open.pop(row.attempt_id, None)
        if row.task is None or row.env is None or row.attempt is None:
            return
        place = (row.task, row.env, row.agent or "", row.attempt)
        if row.role != "planned":
            self._take(place[:3], row.attempt + 1)
        if row.role not in ("planned", "rerun"):
            return
        rows = self.standing if row.role == "planned" else self.fresh
        before = rows.get(place)
        rows[place] = Standing(row.seq, row.void, before.chain + 1 if before else 1)

    def _take(self, cell: tuple[str, str, str], following: int) -> None:
        self.beyond[cell] = max(following, self.beyond.get(cell, 0))

    def _event(self, row: EventRow) -> None:
        if row.event == "started" and row.attempt_id is not None:
            self.open[row.attempt_id] = row
            if row.role != "planned" and row.task is not None and row.env is not None and row.number is not None:
                self._take((row.task, row.env, row.agent or ""), row.number + 1)
        elif row.event == "request":
            for one in registered(row):
                self.registered[one.cell] = one
                self._take(one.cell, one.first + one.k)
        elif row.event == "screened" and row.task is not None and row.env is not None:
            self.screened[(row.task, row.env)] = row.outcome or "usable"
            if row.outcome != "usable":
                self.excluded.add(row.task)
        elif row.event == "ended":
            self.ended = True


def history_of(rows: Iterable[AnyRow]) -> History:
    history = History()
    for row in rows:
        history.add(row)
    return history


def remaining(plan: Plan, history: History) -> list[Job]:
    """Jobs still to be made, in the plan's order; tasks that the screening excluded are left out."""
    jobs = [_job(one, history.standing.get((*one.cell, one.attempt))) for one in plan.order]
    return [job for job in jobs if job is not None and job.planned.task not in history.excluded]


def remaining_fresh(plan: Plan, history: History, seed: int) -> list[Job]:
    """Registered fresh attempts still to be made, interleaved; their order goes on behind the plan's."""
    order = interleaved(list(history.registered.values()), seed, len(plan.order))
    jobs = [_job(one, history.fresh.get((*one.cell, one.attempt)), "rerun") for one in order]
    return [job for job in jobs if job is not None]


def interleaved(cells: Sequence[Registered], seed: int, first_index: int) -> Iterator[Planned]:
    """Fresh attempts in rounds: in each every task once, its environments and agents side by side, all shuffled."""
    dice = random.Random(seed)
    tasks: dict[str, list[Registered]] = {}
    for cell in cells:
        tasks.setdefault(cell.task, []).append(cell)
    index = first_index
    for turn in range(max((cell.k for cell in cells), default=0)):
        for task in dice.sample(list(tasks), len(tasks)):
            for cell in dice.sample(tasks[task], len(tasks[task])):
                if turn < cell.k:
                    yield Planned(*cell.cell, attempt=cell.first + turn, order_index=index)
                    index += 1


def _job(one: Planned, standing: Standing | None, role: Role = "planned") -> Job | None:
    if standing is None:
        return Job(one, role=role)
    if standing.void in REPLACEABLE_CAUSES and standing.chain <= REPLACE_LIMIT:
        return Job(one, role=role, replaces=standing.seq, chain=standing.chain)
    return None
