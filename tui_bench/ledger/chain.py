"""The hash chain over a ledger's lines: each row names the digest of the row before and carries its own."""

from __future__ import annotations

from tui_bench.ledger.canonical import verify
from tui_bench.ledger.lines import Link
from tui_bench.ledger.rows import GENESIS, AnyRow


class Chain:
    """State of a walk over a ledger's rows in order. The first row has `seq` 1, which is its line number."""

    def __init__(self) -> None:
        self.rows = 0
        self.head = GENESIS
        """sha of the last row."""
        self._lost = False

    def skip(self) -> None:
        """A line stands here that is no row: what it held is not known, so the next row's `prev` is not either."""
        self.rows += 1
        self._lost = True

    def add(self, link: Link | AnyRow, data: bytes) -> list[str]:
        """Take the next row. Returns what does not fit, one sentence each, and goes on from this row."""
        faults = []
        if link.seq != self.rows + 1:
            faults.append(f"seq is {link.seq} where {self.rows + 1} is due")
        if not self._lost and link.prev != self.head:
            faults.append("does not follow from the row before it")
        if not verify(data, link.sha):
            faults.append("was changed after it was written: its digest does not match")
        self.advance(link.seq, link.sha)
        return faults

    def advance(self, seq: int, sha: str) -> None:
        """Go on from a row that is known to fit."""
        self.rows, self.head, self._lost = seq, sha, False
