"""The only writer of a ledger: seals rows, writes each with one call, makes them durable in groups.

A row that `append` returned survives the death of this process; one that `durable` was awaited for survives the
machine's. The lock is advisory: a program that ignores it is noticed at the next row, not stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from tui_bench.errors import LedgerDamaged, LedgerError
from tui_bench.ledger.canonical import seal
from tui_bench.ledger.chain import Chain
from tui_bench.ledger.commit import WINDOW_S, GroupCommit
from tui_bench.ledger.disk import LedgerIO
from tui_bench.ledger.file import LedgerFile, Torn
from tui_bench.ledger.lines import Link, RawLine, Splitter, link_of, parsed
from tui_bench.ledger.owner import owner_file, this_process, write_owner
from tui_bench.ledger.rows import SCHEMA, AnyRow


@lru_cache(maxsize=4)
def _second_text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def utc_text(seconds: float) -> str:
    """Seconds since the epoch as UTC, ISO 8601 with milliseconds, cut not rounded, and `Z`."""
    second, rest = divmod(seconds, 1)
    return f"{_second_text(int(second))}.{int(rest * 1000):03d}Z"


class LedgerWriter:
    """An open ledger. `recovered` tells what a crash had left after the last newline; append an event that says so."""

    def __init__(self, file: LedgerFile, clock: Callable[[], float], window_s: float) -> None:
        self.path = file.path
        self.recovered: Torn | None = None
        self.run_id: str | None = None
        """run_id of the rows in it; None while it is empty."""
        self.kept: AnyRow | None = None
        """The row whose write failed last, as given; None once a row has been written again."""
        self._file = file
        self._clock = clock
        self._chain = Chain()
        self._commit = GroupCommit(file.flush, window_s)
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path | str,
        io: LedgerIO | None = None,
        clock: Callable[[], float] = time.time,
        *,
        run_id: str | None = None,
        network_ok: bool = False,
        window_s: float = WINDOW_S,
    ) -> LedgerWriter:
        """Open or create a ledger for appending, with the folders above it.

        All rows in it are verified first. `run_id` is for the message that others get while it is open. Raises
        LedgerBusy while another process writes it, LedgerDamaged naming the first bad line, LedgerError.
        """
        path = Path(path).absolute()
        file = LedgerFile.open(path, io or LedgerIO(), network_ok)
        with ExitStack() as undo:
            undo.callback(file.close)
            writer = cls(file, clock, window_s)
            writer._read_all()
            undo.pop_all()
        with suppress(OSError):  # only the message of a refused second writer depends on it
            write_owner(path, this_process(utc_text(clock()), run_id or writer.run_id))
        return writer

    @property
    def rows(self) -> int:
        """Rows in the ledger, written by whomever."""
        return self._chain.rows

    @property
    def head(self) -> str:
        """sha of the last row; 64 zeros while there is none."""
        return self._chain.head

    def append(self, row: AnyRow) -> AnyRow:
        """Write one row and return it with `seq` (1 for the first), `prev`, `at` and `sha`; the given one is unchanged.

        Raises LedgerError: the row is then not in the ledger, and `retry` writes it later.
        """
        self._check_open(row)
        chain = self._chain
        sealed = seal(row, chain.rows + 1, chain.head, utc_text(self._clock()))
        self.kept = row
        if self._commit.failure is not None:
            raise LedgerError(str(self._commit.failure)) from self._commit.failure
        self._file.append(sealed.line + b"\n")
        self.kept = None
        self.run_id = row.run_id
        chain.advance(chain.rows + 1, sealed.sha)
        self._commit.written(chain.rows)
        return sealed.row

    def retry(self) -> AnyRow | None:
        """Try again what failed: commit first, then the kept row, which is returned. Raises LedgerError."""
        if self._commit.failure is not None:
            self.sync()
        return self.append(self.kept) if self.kept is not None else None

    def durable(self) -> Coroutine[Any, Any, None]:
        """To be awaited: returns when all rows written before this call are on stable storage.

        Raises LedgerError; call again to try again.
        """
        return self._commit.wait(self.rows)

    def sync(self) -> None:
        """`durable` for callers without an event loop."""
        self._commit.wait_blocking(self.rows)

    def close(self) -> None:
        """Make all rows durable and give up the lock. Raises LedgerError when the first fails; closed it is anyhow."""
        if self._closed:
            return
        self._closed = True
        try:
            self._commit.close()
        finally:
            with suppress(OSError):
                owner_file(self.path).unlink()
            self._file.close()

    def __enter__(self) -> LedgerWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self, row: AnyRow) -> None:
        if self._closed:
            raise LedgerError(f"{self.path}: is closed; open it again to write")
        if self.run_id is not None and row.run_id != self.run_id:
            raise LedgerError(
                f"{self.path}: holds run {self.run_id}, not {row.run_id}; choose another ledger with --out"
            )

    def _read_all(self) -> None:
        splitter = Splitter()
        offset = 0
        while chunk := self._file.read(offset):
            for raw in splitter.feed(chunk):
                self._verify(raw)
            offset += len(chunk)
        if splitter.held:
            self.recovered = self._file.cut_tail(splitter.offset, splitter.number)
        self._commit.start(self.rows)

    def _verify(self, raw: RawLine) -> None:
        line = parsed(raw)
        link: Link | AnyRow | None = line.row
        if line.fault is not None and line.fault.kind == "unknown_kind" and raw.data is not None:
            link = link_of(raw.data)
        if link is None or raw.data is None:
            raise self._damaged(raw.number, line.fault.message if line.fault else "not a row")
        if link.v > SCHEMA:
            raise LedgerError(
                f"{self.path}:{raw.number}: written by a newer version (schema {link.v}, this one knows {SCHEMA}); "
                "update tui_bench to append to it"
            )
        if faults := self._chain.add(link, raw.data):
            raise self._damaged(raw.number, faults[0])
        if self.run_id is not None and link.run_id != self.run_id:
            raise self._damaged(raw.number, f"is of run {link.run_id}, the rows before of {self.run_id}")
        self.run_id = link.run_id

    def _damaged(self, number: int, message: str) -> LedgerDamaged:
        return LedgerDamaged(
            f"{self.path}:{number}: {message}; nothing is written to a damaged ledger, look at it with fsck"
        )
