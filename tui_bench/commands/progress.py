"""Progress of a headless run: one plain line for every attempt that ended, with what is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import TextIO

from tui_bench.analysis.dimensions import difference
from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.cleaning import clean
from tui_bench.ledger.registered import registered
from tui_bench.ledger.rows import REPLACEABLE_CAUSES, AnyRow, AttemptRow, EnvRow, EventRow, RunRow

ETA_NEEDS = 5
"""Below so many finished attempts no time left is shown."""
NAMED = 6
AS_ROOT = "running as root: in `local` an agent may do to this machine whatever root may"
EVENTS = ("started", "screened", "paused", "resumed", "stopped", "ended", "request", "recovered")


class Progress:
    """Turns rows into lines as they are written. `every_event` prints starts and screening as well."""

    def __init__(
        self,
        out: TextIO,
        *,
        every_event: bool,
        state: RunState | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`state` holds the rows that were written before and are not shown."""
        self.state = state if state is not None else RunState()
        self._out = out
        self._every_event = every_event
        self._clock = clock
        self._begun: float | None = None
        self._here = 0
        """Attempts ended by this process: a resume must not take the first part's for its own speed."""

    def show(self, row: AnyRow, offset: int = 0) -> None:
        """Take the row in, and print its line if it has one."""
        fold(self.state, row, offset)
        for line in (self._line(row) or "").splitlines():
            print(clean(line), file=self._out, flush=True)

    def show_differences(self) -> None:
        """Before the first attempt: what the environments differ in beyond what the study declares."""
        for env_a, env_b in combinations(self.state.env_names(), 2):
            found = difference(self.state, env_a, env_b)
            if found.undeclared:
                names = ", ".join(found.undeclared[:NAMED]) + (", ..." if len(found.undeclared) > NAMED else "")
                beyond = f"beyond {found.declared}" if found.declared else "and no dimension is declared"
                line = f"{env_a} and {env_b} differ in {len(found.undeclared)} facts {beyond}: {names}"
                print(clean(line), file=self._out, flush=True)

    @property
    def _done(self) -> int:
        """Attempts that stay done: a void that is made again is still to come."""
        lost = sum(count for (cause, _), count in self.state.void_counts.items() if cause in REPLACEABLE_CAUSES)
        return self.state.done - lost

    def _line(self, row: AnyRow) -> str | None:
        if isinstance(row, RunRow):
            lines = [f"run {row.run_id}: study {row.study_id}, subject {row.subject}, {row.planned} attempts planned"]
            return "\n".join([*lines, *([AS_ROOT] if row.root else []), *row.notes])
        if isinstance(row, EnvRow):
            if row.unavailable is not None:
                return f"environment {row.env} is unavailable, its attempts are void: {row.unavailable}"
            weak = [name for name, means in sorted(row.capabilities.items()) if means == "none"]
            weakness = f": not enforced here: {', '.join(weak)}" if weak else ""
            return "\n".join([f"environment {row.env} ({row.env_kind}){weakness}", *row.notes])
        if isinstance(row, AttemptRow):
            return self._attempt(row)
        return self._event(row) if isinstance(row, EventRow) else None

    def _attempt(self, row: AttemptRow) -> str:
        counted = row.role == "planned"
        self._here += counted
        verdict = {True: "pass", False: "fail", None: f"void {row.void}"}[row.passed]
        took = f"{row.wall_ms / 1000:.1f} s" if row.wall_ms is not None else "time unknown"
        who = f"{row.agent} #{(row.attempt or 0) + 1}" if row.agent else f"#{(row.attempt or 0) + 1}"
        place = f"{self._done}/{self.state.planned}" if counted else row.role
        left = self._left() if counted else ""
        return f"[{place}] {row.task} {row.env} {who}: {verdict}  {took}{left}"

    def _left(self) -> str:
        now = self._clock()
        self._begun = now if self._begun is None else self._begun
        left = self.state.planned - self._done
        if self._here <= ETA_NEEDS or left <= 0:
            return ""
        seconds = (now - self._begun) / (self._here - 1) * left
        return f"  about {_span(seconds)} left"

    def _event(self, row: EventRow) -> str | None:
        if row.event == "screened" and row.outcome != "usable":
            return f"{row.task} {row.env}: set apart before the run: {row.outcome}: {row.reason}"
        if not self._every_event and row.event in ("started", "screened"):
            return None
        if row.event not in EVENTS:
            return None
        if row.event == "request":
            return _request(row)
        parts = [row.event, row.task, row.env, row.agent, row.outcome, row.reason]
        return " ".join(str(part) for part in parts if part is not None)


def _request(row: EventRow) -> str:
    detail = row.detail or {}
    fresh = registered(row)
    if fresh:
        return f"registered: {fresh[0].k} fresh attempts in each of {len(fresh)} cells of flipped tasks"
    asked = [detail.get("do"), detail.get("arg")]
    return " ".join(["request", *(str(part) for part in asked if part is not None)])


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
