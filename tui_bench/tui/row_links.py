"""Which row belongs to which: the start of an attempt to its result, a lost attempt to the one that replaces it.

The search walks outward from a row in bounded blocks and may run in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from tui_bench.ledger.lines import RawLine, parsed
from tui_bench.ledger.rows import AttemptRow, EventRow
from tui_bench.tui.row_index import RowIndex

BLOCK_LINES = 2000


def earlier(index: RowIndex, place: int) -> int | None:
    """The row before this one in its attempt's story: a result's start, a start's lost predecessor."""
    row = _row(index, place)
    if row is None:
        return None
    if not (isinstance(row, EventRow) and row.event == "started"):
        found = _find(_backwards(index, place), row.attempt_id or "")
        if found is not None:
            return found
    return row.replaces - 1 if row.replaces is not None and 0 < row.replaces <= place else None


def later(index: RowIndex, place: int) -> int | None:
    """The row after this one in its attempt's story: a start's result, a lost result's successor."""
    row = _row(index, place)
    if row is None:
        return None
    if isinstance(row, AttemptRow):
        return _find(_forwards(index, place), None, row.seq)
    return _find(_forwards(index, place), row.attempt_id or "")


def _row(index: RowIndex, place: int) -> AttemptRow | EventRow | None:
    for line in index.lines([place]):
        row = parsed(line).row
        if isinstance(row, AttemptRow) or (isinstance(row, EventRow) and row.attempt_id):
            return row
    return None


def _find(lines: Iterator[RawLine], attempt_id: str | None, replaced: int | None = None) -> int | None:
    """The first start or result with this id; without an id, the first that replaces this row."""
    mark = (f'"attempt_id":"{attempt_id}"' if attempt_id is not None else f'"replaces":{replaced}').encode()
    for line in lines:
        if line.data is None or mark not in line.data:
            continue
        row = parsed(line).row
        if not (isinstance(row, AttemptRow) or (isinstance(row, EventRow) and row.event == "started")):
            continue
        if row.replaces == replaced if attempt_id is None else row.attempt_id == attempt_id:
            return line.number - 1
    return None


def _forwards(index: RowIndex, place: int) -> Iterator[RawLine]:
    at = place + 1
    while block := index.block(at, at + BLOCK_LINES):
        yield from block
        at += len(block)


def _backwards(index: RowIndex, place: int) -> Iterator[RawLine]:
    at = place
    while block := index.block_before(at, BLOCK_LINES):
        yield from reversed(block)
        at -= len(block)
