"""All attempts of one task in order: the planned ones cell by cell, what they replaced, and those outside the plan.

A reader of `RunState`; every attempt has a name that stays the same while rows arrive, so a cursor can hold on to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tui_bench.analysis.state import FLAKY, Cell, CellKey, Code, Running, RunState

Kind = Literal["planned", "replaced", "probe", "rerun", "warmup"]


class Name(NamedTuple):
    """What an attempt is called for good. `turn` tells rows of one kind and number apart, the oldest being 0."""

    key: CellKey
    kind: Kind
    number: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAttempt:
    """One attempt. Neither `offset` nor `running`: it has not begun. `offset` is its row's place in the ledger."""

    name: Name
    code: Code = Code.MISSING
    cause: str | None = None
    """First void cause, where the state keeps it."""
    flaky: bool = False
    offset: int | None = None
    running: Running | None = None

    @property
    def key(self) -> CellKey:
        return self.name.key

    @property
    def kind(self) -> Kind:
        return self.name.kind

    @property
    def number(self) -> int:
        return self.name.number


def attempts_of(state: RunState, task: str) -> list[TaskAttempt]:
    """Environments within agents, attempts in order, each after the rows it replaced; then probes and re-runs."""
    keys = [(task, env, agent) for agent in state.agents for env in state.env_names()]
    mine = [one for one in state.running.values() if one.key[0] == task]
    found = [one for key in keys for one in _planned(state, key, mine)]
    return found + [one for key in keys for one in _beyond(state.cell(*key), key, mine)]


def telling(found: list[TaskAttempt], key: CellKey, number: int | None = None) -> TaskAttempt | None:
    """The attempt of a cell that says most: the running one, else the first that did not pass, else the first.

    With `number` that attempt, the row that counts before any it replaced.
    """
    own = [one for one in found if one.key == key and (one.kind == "planned" or number is not None)]
    if number is not None and (numbered := [one for one in own if one.number == number]):
        return numbered[-1]
    running = [one for one in own if one.running is not None]
    failing = [one for one in own if one.code in (Code.FAIL, Code.VOID)]
    return next(iter([*running[-1:], *failing, *own]), None)


def _planned(state: RunState, key: CellKey, mine: list[Running]) -> Iterator[TaskAttempt]:
    cell = state.cell(*key)
    running = {one.number: one for one in mine if one.key == key and one.role == "planned"}
    for number in range(max(len(cell), state.attempts)):
        before = [offset for named, offset in cell.superseded if named == number]
        now, offset = running.get(number), cell.offset(number)
        if now is not None and offset is not None:
            # What runs now takes the place of the row that is there.
            before.append(offset)
        for turn, place in enumerate(before):
            code = cell.code(number) if place == offset else Code.VOID
            cause = cell.cause(number) if place == offset else None
            yield TaskAttempt(name=Name(key, "replaced", number, turn), code=code, cause=cause, offset=place)
        name = Name(key, "planned", number, 0)
        if now is not None:
            yield TaskAttempt(name=name, running=now)
        else:
            yield TaskAttempt(
                name=name, code=cell.code(number), cause=cell.cause(number), offset=offset,
                flaky=bool(cell.flags(number) & FLAKY),
            )  # fmt: skip


def _beyond(cell: Cell, key: CellKey, mine: list[Running]) -> Iterator[TaskAttempt]:
    """Attempts that no table counts, in ledger order, those that run now last."""
    turns: Counter[tuple[str, int]] = Counter()
    for probe in cell.probes:
        kind: Kind = "probe" if probe.role == "planned" else probe.role
        name = Name(key, kind, probe.number, turns[kind, probe.number])
        turns[kind, probe.number] += 1
        yield TaskAttempt(name=name, code=probe.code, offset=probe.offset)
    for one in mine:
        if one.key == key and one.role != "planned":
            yield TaskAttempt(name=Name(key, one.role, one.number, turns[one.role, one.number]), running=one)
