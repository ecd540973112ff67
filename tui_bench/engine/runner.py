"""The runner: owns the attempts of one run and is its ledger's only writer.

It starts from a loaded study, prepares environments and templates, writes the first rows, screens, and then keeps
`jobs` slots busy until the plan is done or somebody stops it. Everything it does is a row first. It listens on the
run's socket; `pause`, `jobs`, `stop` and the re-runs are echoed in the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tui_bench.engine.attempt import Attempt, StopCause
from tui_bench.engine.context import Job, RunContext
from tui_bench.engine.dead_agents import DeadAgents
from tui_bench.engine.reruns import Reruns, cell_in_ledger, fresh_wanted
from tui_bench.engine.screening import ScreeningCut, screen
from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.errors import LedgerError, RunnerError
from tui_bench.ledger.rows import AnyRow, EventRow
from tui_bench.ledger.writer import LedgerWriter
from tui_bench.reading import read_ledger

BEAT_S = 10.0
MAX_JOBS = 1_000
RunState = Literal["screening", "running", "paused", "stopping", "ended"]


class Runner:
    """One run, from its screening to its `ended` event. Made by `engine.setup`."""

    def __init__(
        self,
        context: RunContext,
        writer: LedgerWriter,
        jobs: list[Job],
        reruns: Reruns,
        *,
        screened: Mapping[tuple[str, str], str],
        left_out: int = 0,
    ) -> None:
        """`left_out`: planned attempts that are still to be made and that this runner was not asked for."""
        self._context = context
        self._reruns = reruns
        self._left_out = left_out
        self._writer = writer
        self._queue: deque[Job] = deque(jobs)
        self._screened = screened
        self._wanted = max(1, context.study.jobs)
        self._running: dict[str, Attempt] = {}
        self._slots: list[SupervisorSlot] = []
        self._workers: dict[int, asyncio.Task[None]] = {}
        """Slot number -> the worker that uses it."""
        self._go = asyncio.Event()
        self._go.set()
        self._stop_cause: StopCause | None = None
        self._stop_reason: str | None = None
        self._failure: LedgerError | None = None
        self._rows_seen = 0
        self._dead = DeadAgents()
        self.state: RunState = "screening"

    @property
    def running(self) -> int:
        """Attempts that run now."""
        return len(self._running)

    async def run(self) -> str:
        """Make every job; returns why the run ended: `complete`, `stopped` or `interrupted`. Raises LedgerError."""
        beat = asyncio.create_task(self._beat())
        try:
            if self._context.mode != "clean" and any(job.role == "planned" for job in self._queue):
                await self._screen()
            else:
                for pair, outcome in self._screened.items():
                    self._context.note_screened(pair, outcome)
            self.state = "running" if self.state == "screening" else self.state
            self._staff()
            while self._workers:
                await asyncio.wait(self._workers.values(), return_when=asyncio.FIRST_COMPLETED)
                self._reap()
                # A request may have come while the last worker was leaving.
                self._staff()
            if self._failure is not None:
                raise self._failure
            return self._end()
        finally:
            beat.cancel()
            await asyncio.gather(*(slot.close() for slot in self._slots))

    def stop(self, cause: StopCause, reason: str | None = None) -> None:
        """Start nothing more and end what runs; the ended attempts are void with this cause."""
        if self._stop_cause is None:
            self._stop_cause, self._stop_reason = cause, reason
        self.state = "stopping"
        self._go.set()
        for attempt in self._running.values():
            attempt.stop(cause)
        for slot in self._slots:
            slot.cancel()

    async def answer(self, do: str, arg: Any) -> dict[str, Any]:  # noqa: ANN401  (a request's argument is any JSON)
        """Carry out one request; echoed in the ledger unless it only asks. Raises RunnerError."""
        if do in ("rerun", "rerun_flips"):
            await self._go_beyond(do, arg)
            return self._status()
        if do != "status":
            self._emit_event("request", detail={"do": do, "arg": arg})
        actions: dict[str, Callable[[], None]] = {
            "pause": self.pause,
            "resume": self.resume,
            "stop": lambda: self.stop("operator_stopped", "stopped on request"),
            "jobs": lambda: self.set_jobs(arg),
            "cancel": lambda: self._cancel(arg),
        }
        if do in actions:
            actions[do]()
        return self._status()

    def pause(self, reason: str | None = None) -> None:
        """Start no further attempt; what runs goes on."""
        if self.state == "running":
            self._go.clear()
            self.state = "paused"
            self._emit_event("paused", reason=reason)

    def resume(self) -> None:
        if self.state == "paused":
            self.state = "running"
            self._emit_event("resumed")
            self._go.set()

    def set_jobs(self, arg: object) -> None:
        """Change how many attempts run at once. Raises RunnerError for anything but 1 to 1,000."""
        text = str(arg)
        if not text.isdecimal() or not 1 <= int(text) <= MAX_JOBS:
            raise RunnerError(f"jobs {arg!r}: a whole number from 1 to {MAX_JOBS} is needed")
        self._wanted = int(text)
        if self.state in ("running", "paused"):
            self._staff()

    def _status(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "running": len(self._running),
            "queued": len(self._queue),
            "jobs": self._wanted,
        }

    async def _go_beyond(self, do: str, arg: object) -> None:
        """Queue a probe before everything else, or the registered re-run of the flips behind it."""
        ledger = self._context.layout.ledger
        self._refuse_at_the_end()
        if do == "rerun":
            running = self._running.get(str(arg))
            cell = running.cell if running else await asyncio.to_thread(cell_in_ledger, ledger, str(arg))
            self._refuse_at_the_end()
            self._queue.appendleft(self._reruns.probe(str(arg), cell))
        else:
            k = fresh_wanted(arg)
            state = await asyncio.to_thread(read_ledger, ledger)
            self._refuse_at_the_end()
            self._queue.extend(self._reruns.flips(state, k))
        if self.state in ("running", "paused"):
            self._staff()

    def _refuse_at_the_end(self) -> None:
        if self._stop_cause is not None or self.state == "ended":
            raise RunnerError("the run is ending; `tui-bench resume` with --rerun or --rerun-flips does it afterwards")

    def _cancel(self, arg: object) -> None:
        attempt = self._running.get(str(arg))
        if attempt is None:
            raise RunnerError(f"attempt {arg!r} is not running; running: {', '.join(self._running) or 'none'}")
        attempt.stop("operator_stopped")

    async def _screen(self) -> None:
        self._slots = [SupervisorSlot(number) for number in range(self._wanted)]
        try:
            await screen(self._context, self._slots, done=self._screened)
        except* ScreeningCut as cut:
            if self._stop_cause is None:
                self.stop("interrupted", f"screening was cut off: {cut.exceptions[0]}")
        excluded = self._context.excluded
        self._queue = deque(job for job in self._queue if job.planned.task not in excluded)

    def _staff(self) -> None:
        """Give every wanted slot a worker while there is work; surplus workers leave by themselves."""
        while len(self._slots) < self._wanted:
            self._slots.append(SupervisorSlot(len(self._slots)))
        free = [number for number in range(self._wanted) if number not in self._workers]
        for number in free[: len(self._queue)] if self._stop_cause is None else ():
            self._workers[number] = asyncio.create_task(self._work(number))

    def _reap(self) -> None:
        for number in [one for one, worker in self._workers.items() if worker.done()]:
            error = self._workers.pop(number).exception()
            if isinstance(error, LedgerError):
                self._failure = self._failure or error
                self.stop("interrupted", "the ledger cannot be written")
            elif error is not None:
                raise error

    async def _work(self, number: int) -> None:
        while True:
            await self._go.wait()
            if self._stop_cause is not None or not self._queue or number >= self._wanted:
                return
            attempt = Attempt(self._context, self._queue.popleft(), self._slots[number])
            self._running[attempt.attempt_id] = attempt
            try:
                row = await attempt.run()
            finally:
                del self._running[attempt.attempt_id]
            reason = self._dead.note(row) if row.role != "probe" else None
            if row.void == "disk_limit" and "MB free" in (row.void_detail or ""):
                reason = f"disk full: {row.void_detail}; make room, then `tui-bench resume`"
            if reason is not None:
                self.stop("interrupted", reason)

    def _end(self) -> str:
        if self._stop_cause is None:
            self.state = "ended"
            if self._left_out:
                reason = f"planned attempts left out: {self._left_out}; `tui-bench resume` makes them"
                self._emit_event("ended", outcome="partial", reason=reason)
            else:
                self._emit_event("ended", outcome="complete")
            return "complete"
        outcome = "stopped" if self._stop_cause == "operator_stopped" else "interrupted"
        self._emit_event("stopped", outcome=outcome, reason=self._stop_reason)
        return outcome

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            if self._writer.rows == self._rows_seen:
                with contextlib.suppress(LedgerError):
                    self._emit_event("beat")
            self._rows_seen = self._writer.rows

    def _emit_event(
        self,
        event: Literal["beat", "paused", "resumed", "request", "stopped", "ended"],
        *,
        outcome: str | None = None,
        reason: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> AnyRow:
        row = EventRow(
            run_id=self._context.run_id, event=event, outcome=outcome, reason=reason, detail=detail
        )
        return self._context.emit(row)
