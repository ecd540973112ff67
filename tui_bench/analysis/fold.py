"""Rows in, state out: `fold(state, row)` is the only way a ledger becomes something to look at.

No clock and no I/O, so a live run, a finished one and somebody else's file give the same state. The fold never
refuses a row: a foreign or half-written study must still open, and what cannot be placed is counted by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from tui_bench.analysis.state import (
    CAPPED,
    CAUSE_INDEX,
    DROPPED,
    FLAKY,
    IDLE,
    NUMBER_LIMIT,
    REPLACED,
    WALLS_KEPT,
    Cell,
    CellKey,
    Code,
    Exclusion,
    Probe,
    Running,
    RunState,
)
from tui_bench.analysis.verdicts import replays_disagree
from tui_bench.ledger.registered import registered
from tui_bench.ledger.rows import AnyRow, AttemptRow, EnvRow, EventRow, RunRow, TaskRow

Changed = CellKey | str
"""A cell, or one of "run", "tasks", "environments", "running", "excluded", "status"."""

JOBS_MOST = 1000
"""A runner refuses more; the request is in the ledger all the same."""
_NOTHING: frozenset[Changed] = frozenset()


def fold(state: RunState, row: AnyRow, offset: int = 0) -> Iterable[Changed]:
    """Take one row into the state; returns what changed. `offset` is the row's place in the ledger."""
    state.rows += 1
    state.head = row.sha
    state.last_at = row.at
    return _FOLDS[type(row)](state, row, offset)


def fold_all(rows: Iterable[AnyRow]) -> RunState:
    """State of a whole ledger given as rows; offsets are row indexes."""
    state = RunState()
    for index, row in enumerate(rows):
        fold(state, row, index)
    return state


def _fold_run(state: RunState, row: RunRow, offset: int) -> Iterable[Changed]:
    if state.run is None:
        state.run = row
        state.attempts = max(1, row.attempts)
        if row.agents:
            state.agents = [agent.name for agent in row.agents]
            state.agents_known = True
    else:
        state.resumes += 1
    # Whoever wrote the rows before is gone: what it had running has ended, with or without a row of its own.
    state.running.clear()
    state.jobs_asked = None
    state.status = "running"
    state.why = None
    return ("run", "running", "status")


def _fold_task(state: RunState, row: TaskRow, offset: int) -> Iterable[Changed]:
    if row.task is None:
        state.unknown["task row without a task"] += 1
        return _NOTHING
    state.tasks[row.task] = row
    state.seen_tasks[row.task] = None
    return ("tasks",)


def _fold_env(state: RunState, row: EnvRow, offset: int) -> Iterable[Changed]:
    if row.env is None:
        state.unknown["env row without an environment"] += 1
        return _NOTHING
    state.environments[row.env] = row
    state.seen_envs[row.env] = None
    return ("environments",)


def _fold_attempt(state: RunState, row: AttemptRow, offset: int) -> Iterable[Changed]:
    running = state.running
    if running:
        running.pop(row.attempt_id, None)
    number = row.attempt
    if row.task is None or row.env is None or number is None or not 0 <= number < NUMBER_LIMIT:
        state.unknown["attempt row without task, environment or a number in range"] += 1
        return ("running",)
    key = (row.task, row.env, row.agent or "")
    cell = state.cells.get(key)
    if cell is None:
        cell = _new_cell(state, key)
    code = Code.VOID if row.passed is None else Code.PASS if row.passed else Code.FAIL
    if row.role != "planned":
        _fold_beyond(state, cell, row, Probe(number, row.role, code, offset))
        return (key, "running")
    if state.run is None and number >= state.attempts:
        # Nothing says how many were planned: what is there is the plan.
        state.attempts = number + 1
    cause = CAUSE_INDEX.get(row.void or "other", CAUSE_INDEX["other"]) if code is Code.VOID else 0
    flags = (CAPPED if row.capped else 0) | (DROPPED if row.dropped else 0)
    if len(row.verify_runs) > 1 and replays_disagree(row.verify_runs):
        flags |= FLAKY
    if row.agent and row.patch_sha256 == "empty" and row.tokens_in is None and row.tokens_out is None:
        flags |= IDLE
    if cell.code(number):
        flags |= REPLACED
        _uncount(state, cell, key, number, replaced=row.replaces is not None)
    cell.put(
        number, code, cause=cause, flags=flags, exit_code=row.exit_code, offset=offset, wall_ms=row.wall_ms,
        tokens=None if row.tokens_in is None or row.tokens_out is None else row.tokens_in + row.tokens_out,
    )  # fmt: skip
    _count(state, cell, key, number)
    return (key, "running")


def _fold_beyond(state: RunState, cell: Cell, row: AttemptRow, probe: Probe) -> None:
    """An attempt outside the plan: it enters no count of the plan."""
    cell.probes += (probe,)
    if probe.role == "probe":
        state.counts.probes += 1
    elif probe.role == "rerun":
        cell.put_fresh(probe.code, replaces=row.replaces is not None)
        state.counts.reruns += row.replaces is None


def _new_cell(state: RunState, key: CellKey) -> Cell:
    task, env, agent = key
    cell = state.cells[key] = Cell(state.attempts)
    state.seen_tasks[task] = None
    state.seen_envs[env] = None
    if agent not in state.agents:
        # A ledger without a run row names its agents only in its attempts.
        state.agents = [*(state.agents if state.agents_known else []), agent]
        state.agents_known = True
    return cell


def _count(state: RunState, cell: Cell, key: CellKey, number: int) -> None:
    counts = state.counts
    counts.done += 1
    if cell.flags(number) & IDLE:
        state.idle[key[2]] += 1
    code = cell.code(number)
    if code is Code.VOID:
        counts.void += 1
        state.void_counts[(cell.cause(number) or "other", key[2])] += 1
        return
    if code is Code.PASS:
        counts.passed += 1
    else:
        counts.failed += 1
    wall = cell.wall_ms(number)
    if wall is not None:
        state.walls.append(wall)
        if len(state.walls) > 2 * WALLS_KEPT:
            del state.walls[:WALLS_KEPT]


def _uncount(state: RunState, cell: Cell, key: CellKey, number: int, *, replaced: bool) -> None:
    counts = state.counts
    counts.done -= 1
    if cell.flags(number) & IDLE:
        state.idle[key[2]] -= 1
    code = cell.code(number)
    if code is Code.VOID:
        counts.void -= 1
        state.void_counts[(cell.cause(number) or "other", key[2])] -= 1
    elif code is Code.PASS:
        counts.passed -= 1
    else:
        counts.failed -= 1
    if replaced:
        counts.replaced += 1
    else:
        counts.duplicates += 1


def _fold_event(state: RunState, row: EventRow, offset: int) -> Iterable[Changed]:
    act = _EVENTS.get(row.event)
    if act is not None:
        return act(state, row)
    return _NOTHING


def _started(state: RunState, row: EventRow) -> Iterable[Changed]:
    if row.attempt_id is None or row.task is None or row.env is None or row.number is None:
        state.unknown["started row without an attempt"] += 1
        return _NOTHING
    key = (row.task, row.env, row.agent or "")
    folder = (row.detail or {}).get("folder")
    state.running[row.attempt_id] = Running(
        attempt_id=row.attempt_id, key=key, number=row.number, role=row.role or "planned", phase=None,
        since=row.at, folder=folder if isinstance(folder, str) else None,
    )  # fmt: skip
    return (key, "running")


def _phase(state: RunState, row: EventRow) -> Iterable[Changed]:
    known = state.running.get(row.attempt_id or "")
    if known is None:
        return _NOTHING
    state.running[known.attempt_id] = Running(
        attempt_id=known.attempt_id, key=known.key, number=known.number, role=known.role, phase=row.phase,
        since=known.since, folder=known.folder,
    )  # fmt: skip
    return (known.key, "running")


def _recovered(state: RunState, row: EventRow) -> Iterable[Changed]:
    gone = state.running.pop(row.attempt_id or "", None)
    return _NOTHING if gone is None else (gone.key, "running")


def _screened(state: RunState, row: EventRow) -> Iterable[Changed]:
    if row.task is None or row.env is None or row.outcome is None:
        state.unknown["screened row without task, environment or outcome"] += 1
        return _NOTHING
    state.screened[(row.task, row.env)] = row.outcome
    if row.outcome == "usable":
        return ("screened",)
    # The first reason stands: later environments repeat it or add to it, and one is enough to exclude.
    state.excluded.setdefault(row.task, Exclusion(row.task, row.env, row.outcome, row.reason or row.outcome))
    return ("screened", "excluded")


def _paused(state: RunState, row: EventRow) -> Iterable[Changed]:
    state.status = "paused"
    return ("status",)


def _resumed(state: RunState, row: EventRow) -> Iterable[Changed]:
    state.status = "running"
    return ("status",)


def _request(state: RunState, row: EventRow) -> Iterable[Changed]:
    detail = row.detail or {}
    asked = str(detail.get("arg"))
    if detail.get("do") == "jobs" and asked.isascii() and asked.isdecimal() and 1 <= int(asked[:9]) <= JOBS_MOST:
        state.jobs_asked = int(asked[:9])
    found = registered(row)
    for one in found:
        state.registered[one.cell] = one.k
    return [one.cell for one in found]


def _stopped(state: RunState, row: EventRow) -> Iterable[Changed]:
    state.status = "stopped"
    state.why = row.reason or row.outcome
    return ("status",)


def _ended(state: RunState, row: EventRow) -> Iterable[Changed]:
    # A run that was stopped also ends; that it was stopped is what the reader needs to know.
    if state.status != "stopped":
        state.status = "ended"
        state.why = row.reason or row.outcome
    state.running.clear()
    return ("status", "running")


_EVENTS: dict[str, Callable[[RunState, EventRow], Iterable[Changed]]] = {
    "started": _started,
    "phase": _phase,
    "recovered": _recovered,
    "screened": _screened,
    "paused": _paused,
    "resumed": _resumed,
    "request": _request,
    "stopped": _stopped,
    "ended": _ended,
}
_FOLDS = cast(
    "dict[type[Any], Callable[[RunState, Any, int], Iterable[Changed]]]",
    {RunRow: _fold_run, TaskRow: _fold_task, EnvRow: _fold_env, EventRow: _fold_event, AttemptRow: _fold_attempt},
)
