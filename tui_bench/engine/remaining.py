"""What is left to do of a plan, given the rows of its ledger.

Done is every attempt whose counting row stands: pass, fail, or a void that is not run again. An attempt lost to the
instrument before a verdict was seen is made again as a new row that names the one it replaces, at most twice a cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tui_bench.engine.context import Job
from tui_bench.engine.plan import Plan, Planned
from tui_bench.ledger.rows import REPLACE_LIMIT, REPLACEABLE_CAUSES, AnyRow, AttemptRow, EventRow, RunRow

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
        if row.role != "planned" or row.task is None or row.env is None or row.attempt is None:
            return
        place = (row.task, row.env, row.agent or "", row.attempt)
        before = self.standing.get(place)
        self.standing[place] = Standing(row.seq, row.void, before.chain + 1 if before else 1)

    def _event(self, row: EventRow) -> None:
        if row.event == "started" and row.attempt_id is not None:
            self.open[row.attempt_id] = row
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


def _job(one: Planned, standing: Standing | None) -> Job | None:
    if standing is None:
        return Job(one)
    if standing.void in REPLACEABLE_CAUSES and standing.chain <= REPLACE_LIMIT:
        return Job(one, replaces=standing.seq, chain=standing.chain)
    return None
