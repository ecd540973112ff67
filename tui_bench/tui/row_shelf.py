"""Attempt rows by their place in the ledger, read when they are first looked at, in a thread. Rows never change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from tui_bench.errors import LedgerError
from tui_bench.ledger.reader import read_at
from tui_bench.ledger.rows import AttemptRow

KEPT = 512


class RowShelf:
    """Rows of one ledger. Those that were looked at last are kept, at most `KEPT`."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._rows: dict[int, AttemptRow | str] = {}
        self._turn = 0

    def get(self, offset: int | None) -> AttemptRow | None:
        """The row, if it has been read."""
        found = self._rows.get(offset) if offset is not None else None
        return found if isinstance(found, AttemptRow) else None

    def fault(self, offset: int | None) -> str | None:
        """Why the row cannot be read, where that was tried."""
        found = self._rows.get(offset) if offset is not None else None
        return found if isinstance(found, str) else None

    def missing(self, offsets: Iterable[int | None]) -> list[int]:
        """Those of these that have not been read yet."""
        return [offset for offset in offsets if offset is not None and offset not in self._rows]

    async def fetch(self, offsets: list[int]) -> None:
        """Read these rows. What is no attempt row is kept as a fault."""
        turn = self._turn
        found = await asyncio.to_thread(self._read, offsets)
        if turn == self._turn:
            self._rows |= found
            for old in list(self._rows)[: max(0, len(self._rows) - KEPT)]:
                del self._rows[old]

    def clear(self) -> None:
        """Forget everything: the ledger is another one now."""
        self._rows.clear()
        self._turn += 1

    def _read(self, offsets: list[int]) -> dict[int, AttemptRow | str]:
        found: dict[int, AttemptRow | str] = {}
        for offset in offsets:
            try:
                row = read_at(self._ledger, offset)
            except LedgerError as error:
                found[offset] = str(error)
            else:
                found[offset] = row if isinstance(row, AttemptRow) else "not the row of an attempt"
        return found
