"""Group commit: one thread that makes rows durable, many rows to an fsync.

A row is committed at most one window after it was written, sooner when somebody waits for it. All who begin to wait in
the same turn of an event loop share one commit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from tui_bench.errors import LedgerError

WINDOW_S = 0.05
_CLOSED = "the ledger is closed; open it again to write"


class _Batch:
    """Those who wait for the same commit, in event loops and in threads."""

    def __init__(self) -> None:
        self.need = 0
        self.error: LedgerError | None = None
        self.done = threading.Event()
        self._events: dict[asyncio.AbstractEventLoop, asyncio.Event] = {}

    def event(self, loop: asyncio.AbstractEventLoop) -> asyncio.Event:
        if loop not in self._events:
            self._events[loop] = asyncio.Event()
        return self._events[loop]

    def settle(self, error: LedgerError | None) -> None:
        self.error = error
        self.done.set()
        for loop, event in self._events.items():
            with suppress(RuntimeError):  # a loop that was closed has nobody waiting in it
                loop.call_soon_threadsafe(event.set)

    def outcome(self) -> None:
        if self.error is not None:
            raise LedgerError(str(self.error)) from self.error


class GroupCommit:
    """Calls `flush`, which raises LedgerError and nothing else, from one thread.

    Counts are of rows: written ones are announced, durable ones waited for.
    """

    def __init__(self, flush: Callable[[], None], window_s: float = WINDOW_S) -> None:
        self._flush = flush
        self._window_s = window_s
        self._changed = threading.Condition()
        self._written = self._durable = 0
        self._failure: LedgerError | None = None
        self._urgent = self._kick_due = self._closing = False
        self._batch: _Batch | None = None
        """Those whom the next commit serves."""
        self._served: _Batch | None = None
        """Those whom the commit under way serves."""
        self._thread: threading.Thread | None = None

    @property
    def failure(self) -> LedgerError | None:
        """Why the last commit failed; None once one has succeeded again."""
        return self._failure

    def start(self, rows: int) -> None:
        """Begin with `rows` rows that are on disk already but not known to be durable."""
        self._written = rows

    def written(self, rows: int) -> None:
        """`rows` rows are written now."""
        with self._changed:
            idle = self._durable >= self._written
            self._written = rows
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ledger-commit", daemon=True)
                self._thread.start()
            elif idle:
                self._changed.notify()

    async def wait(self, rows: int) -> None:
        """Returns when `rows` rows are durable. Raises LedgerError when the commit failed."""
        loop = asyncio.get_running_loop()
        with self._changed:
            batch = self._join(rows)
            if batch is None:
                return
            event = batch.event(loop)
            if not self._kick_due:
                self._kick_due = True
                loop.call_soon(self._kick)
        await event.wait()
        batch.outcome()

    def wait_blocking(self, rows: int) -> None:
        """`wait` for callers without an event loop."""
        with self._changed:
            batch = self._join(rows)
        if batch is None:
            return
        self._kick()
        batch.done.wait()
        batch.outcome()

    def close(self) -> None:
        """Commit what is left and end the thread. Raises LedgerError when that commit fails."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is None:
            return
        self._thread.join()
        if self._durable < self._written:
            raise LedgerError(str(self._failure or _CLOSED)) from self._failure

    def _join(self, rows: int) -> _Batch | None:
        if self._durable >= rows:
            return None
        if self._closing:
            raise LedgerError(_CLOSED)
        if self._batch is None:
            self._batch = _Batch()
        self._batch.need = max(self._batch.need, rows)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ledger-commit", daemon=True)
            self._thread.start()
        return self._batch

    def _kick(self) -> None:
        with self._changed:
            self._kick_due = False
            self._urgent = True
            self._changed.notify()

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                self._commit_once()
        finally:
            self._end()

    def _commit_once(self) -> None:
        with self._changed:
            self._urgent = False
            target = self._written
            self._served, self._batch = self._batch, None
        error: LedgerError | None = None
        try:
            self._flush()
        except LedgerError as caught:
            error = caught
        self._settle(target, error)

    def _end(self) -> None:
        """However the thread ends, nobody is left waiting."""
        with self._changed:
            self._closing = True
            left = [batch for batch in (self._served, self._batch) if batch is not None]
            self._served = self._batch = None
        for each in left:
            each.settle(self._failure or LedgerError(_CLOSED))

    def _wait_for_work(self) -> bool:
        """Sleep until a commit is due. False when the thread is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._urgent or self._behind())
            if not (self._urgent or self._closing):
                self._changed.wait_for(lambda: self._closing or self._urgent, self._window_s)
            if self._closing:
                return self._durable < self._written and (self._failure is None or self._urgent)
            return True

    def _behind(self) -> bool:
        return self._durable < self._written and self._failure is None

    def _settle(self, target: int, error: LedgerError | None) -> None:
        with self._changed:
            self._failure = error
            settled = [self._served] if self._served else []
            self._served = None
            if error is None:
                self._durable = max(self._durable, target)
                if self._batch is not None and self._batch.need <= self._durable:
                    settled.append(self._batch)
                    self._batch = None
        for each in settled:
            each.settle(error)
