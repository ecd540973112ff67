"""Attempts beyond the plan: an unscored probe of any attempt's cell, and the registered re-run of the flips.

A request becomes a row before it becomes jobs. Numbers begin behind the planned ones, so that no folder and no place
of the plan is ever met; a number once given, to a probe or a registration, is not given again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from tui_bench.analysis.flip import flip_table
from tui_bench.analysis.fold import fold_all
from tui_bench.analysis.state import CellKey, RunState
from tui_bench.engine.context import Job, RunContext
from tui_bench.engine.plan import Plan, Planned
from tui_bench.engine.remaining import History, interleaved
from tui_bench.errors import RunnerError
from tui_bench.ledger.lines import parsed
from tui_bench.ledger.reader import scan
from tui_bench.ledger.registered import Registered, details
from tui_bench.ledger.rows import AnyRow, AttemptRow, EventRow

FRESH = 5
"""Fresh attempts a side where nobody says how many: METHODS' best return for a single broken task."""
FRESH_LEAST, FRESH_MOST = 2, 50


@dataclass(frozen=True, slots=True)
class Asked:
    """What a resume is asked for in place of the rest of the plan."""

    attempt_id: str | None = None
    """Make a probe of this attempt's cell."""
    flips: int | None = None
    """Register so many fresh attempts for the flips, and make what is registered."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is asked for, checked against the ledger before anything is written to it."""

    probe: tuple[str, CellKey] | None = None
    flips: tuple[RunState, int] | None = None
    """None as well where all flips are registered and only the rest is to be made."""


def check_asked(asked: Asked, rows: list[AnyRow], history: History, *, unfinished: bool) -> Checked:
    """Raises RunnerError for what cannot be done. `unfinished`: registered attempts are still to be made."""
    if asked.attempt_id is not None:
        return Checked(probe=(asked.attempt_id, cell_of(rows, asked.attempt_id)))
    k, state = fresh_wanted(asked.flips), fold_all(rows)
    try:
        cells_to_register(state, history.registered)
    except RunnerError:
        # A registration that was cut off is finished, not refused.
        if not unfinished:
            raise
        return Checked()
    return Checked(flips=(state, k))


class Reruns:
    """Turns requests into jobs of one run."""

    def __init__(self, context: RunContext, plan: Plan, history: History) -> None:
        self._context = context
        self._order = len(plan.order)
        self._beyond = dict(history.beyond)
        self._registered = dict(history.registered)

    def probe(self, attempt_id: str, cell: CellKey) -> Job:
        """A probe of the cell of that attempt; echoed in the ledger."""
        number = self._free(cell)
        task, env, agent = cell
        self._request(
            {"do": "rerun", "arg": attempt_id, "cell": [task, env, agent or None], "number": number}, cell, number
        )
        self._beyond[cell] = number + 1
        return Job(Planned(*cell, attempt=number, order_index=None), role="probe")

    def flips(self, state: RunState, k: int) -> list[Job]:
        """Register `k` fresh attempts for every flipped cell that has none yet; the rows are written before any job is.

        Raises RunnerError when no cell is left to register.
        """
        cells = [
            Registered(*cell, first=self._free(cell), k=k)
            for cell in cells_to_register(state, self._registered)
        ]
        before = sum(one.k for one in self._registered.values())
        for detail in details(cells, k):
            self._request(detail)
        for one in cells:
            self._registered[one.cell] = one
            self._beyond[one.cell] = one.first + k
        order = interleaved(cells, self._context.study.order.seed, self._order + before)
        return [Job(one, role="rerun") for one in order]

    def jobs(self, checked: Checked, fresh: list[Job]) -> list[Job]:
        """Jobs of a resume that makes nothing of the plan; `fresh` is what earlier registrations left."""
        if checked.probe is not None:
            return [self.probe(*checked.probe)]
        return fresh + (self.flips(*checked.flips) if checked.flips is not None else [])

    def _free(self, cell: CellKey) -> int:
        return max(self._context.study.attempts, self._beyond.get(cell, 0))

    def _request(self, detail: dict[str, object], cell: CellKey | None = None, number: int | None = None) -> None:
        task, env, agent = cell or (None, None, None)
        self._context.emit(
            EventRow(
                run_id=self._context.run_id,
                event="request",
                task=task,
                env=env,
                agent=agent or None,
                number=number,
                detail=detail,
            )
        )


def fresh_wanted(arg: object) -> int:
    """How many fresh attempts a side a request asks for. Raises RunnerError outside 2 to 50."""
    text = str(FRESH if arg is None else arg)
    if not (text.isascii() and text.isdecimal()) or not FRESH_LEAST <= int(text) <= FRESH_MOST:
        raise RunnerError(
            f"rerun_flips {arg!r}: a whole number of fresh attempts from {FRESH_LEAST} to {FRESH_MOST} is needed"
        )
    return int(text)


def cells_to_register(state: RunState, registered: Iterable[CellKey]) -> list[CellKey]:
    """Both cells of every flipped task at the declared attempt, agent by agent, pair by pair, less those registered.

    A cell is registered once: fresh attempts added after a look at the first ones would not be the registered test.
    Raises RunnerError where nothing flipped, or all of it is registered already.
    """
    flipped = _flipped_cells(state)
    if not flipped:
        raise RunnerError("no task flipped: nothing to run again")
    taken = set(registered)
    cells = [cell for cell in flipped if cell not in taken]
    if not cells:
        raise RunnerError(
            "every flip is registered for its re-run already: more attempts after a look at the first ones would not "
            "be the registered test; start a new run for more"
        )
    return cells


def _flipped_cells(state: RunState) -> list[CellKey]:
    cells: dict[CellKey, None] = {}
    for agent in state.agents:
        for env_a, env_b in combinations(state.env_names(), 2):
            for task in flip_table(state, agent, env_a, env_b).tasks:
                if task.mark == "flip":
                    cells[(task.task, env_a, agent)] = None
                    cells[(task.task, env_b, agent)] = None
    return list(cells)


def cell_in_ledger(ledger: Path, attempt_id: str) -> CellKey:
    """The cell of an attempt. Raises RunnerError when no row names it, LedgerError when the ledger cannot be read."""
    # Only lines that hold the id are parsed: a ledger may have a million others.
    sought = json.dumps(attempt_id, ensure_ascii=False).encode("utf-8", "surrogatepass")
    lines = (parsed(raw) for raw in scan(ledger).raw() if raw.data is not None and sought in raw.data)
    return cell_of((line.row for line in lines if line.row is not None), attempt_id)


def cell_of(rows: Iterable[AnyRow], attempt_id: str) -> CellKey:
    """The cell of an attempt among rows. Raises RunnerError when none names it."""
    for row in rows:
        if not isinstance(row, AttemptRow | EventRow) or row.attempt_id != attempt_id:
            continue
        if row.task is not None and row.env is not None:
            return (row.task, row.env, row.agent or "")
    raise RunnerError(f"attempt {attempt_id!r} is not in the ledger; `attempt_id` in its rows is what is meant")
