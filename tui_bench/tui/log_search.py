"""Search in a text of any size, forwards and backwards, a piece at a time.

What is looked for is what a person sees: colours between its letters do not matter, and capitals only where the
search itself has some. Runs in a thread; `stop` ends it early.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from tui_bench.tui import safe
from tui_bench.tui.log_file import LINE_CAP, Lines
from tui_bench.tui.log_window import Place

PIECE = 1024 * 1024
OVERLAP = 4096
"""Bytes in which a match may lie across two pieces."""
COUNTED = 8 * 1024 * 1024
"""Up to this size all matches are counted."""
COUNT_MOST = 9999
_COLOURS = r"(?:\x1b\[[0-9;:]*m)*"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: in raw bytes, and in the clean text that is drawn."""

    text: str
    raw: re.Pattern[bytes]
    shown: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Hit:
    """A match. `place` is the row of its line, `column` its first cell there; `round` when the search went round.

    `number` of `total`, 1-based; both None where the text is too large to count.
    """

    offset: int
    place: Place
    column: int
    round: bool
    number: int | None = None
    total: int | None = None


def wanted(text: str) -> Wanted:
    """Look for this text, for its letters in either case unless it has a capital."""
    flags = 0 if any(letter.isupper() for letter in text) else re.IGNORECASE
    raw = _COLOURS.join(re.escape(letter) for letter in text)
    return Wanted(text, re.compile(raw.encode("utf-8", "surrogatepass"), flags), re.compile(re.escape(text), flags))


def search(lines: Lines, sought: Wanted, start: int, *, forward: bool, stop: threading.Event) -> Hit | None:
    """The next match from offset `start` (or the last before it), then from the other end; None where there is none."""
    status = lines.status()
    size = status.size if status is not None else 0
    parts = ((start, size), (0, min(size, start + OVERLAP))) if forward else ((0, start), (start, size))
    for turn, (low, high) in enumerate(parts):
        offset = _first(lines, sought, low, high, stop) if forward else _last(lines, sought, low, high, stop)
        if offset is not None:
            return _hit(lines, sought, offset, size, bool(turn), stop)
    return None


def _first(lines: Lines, sought: Wanted, low: int, high: int, stop: threading.Event) -> int | None:
    return next(_all(lines, sought, low, high, stop), None)


def _last(lines: Lines, sought: Wanted, low: int, high: int, stop: threading.Event) -> int | None:
    """The last match that begins before `high`."""
    end = high
    while end > low and not stop.is_set():
        begin = max(low, end - PIECE)
        found = list(_all(lines, sought, begin, end, stop))
        if found:
            return found[-1]
        end = begin
    return None


def _all(lines: Lines, sought: Wanted, low: int, high: int, stop: threading.Event) -> Iterator[int]:
    """Offsets of matches that begin in low..high, in order."""
    at = low
    while at < high and not stop.is_set():
        end = min(high, at + PIECE)
        piece = lines.chunk(at, end - at + OVERLAP)
        if not piece:
            return
        yield from (at + match.start() for match in sought.raw.finditer(piece) if at + match.start() < end)
        at = end


def _hit(lines: Lines, sought: Wanted, offset: int, size: int, went_round: bool, stop: threading.Event) -> Hit:
    floor = max(0, offset - LINE_CAP)
    before = lines.chunk(floor, offset - floor)
    newline = before.rfind(b"\n")
    start = floor + newline + 1
    number = total = None
    if size <= COUNTED:
        found = [at for _, at in zip(range(COUNT_MOST), _all(lines, sought, 0, size, stop), strict=False)]
        number, total = found.index(offset) + 1 if offset in found else None, len(found)
    return Hit(offset, Place(start), cell_len(safe.text(before[newline + 1 :])), went_round, number, total)
