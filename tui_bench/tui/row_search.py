"""Which rows of a ledger a list shows: all of them, those a filter finds, or the damaged ones.

A choice is counted from the newest row backwards. It grows at both ends and never in between: rows that arrive come in
front, rows found further back come behind. `step` does a bounded piece of work and may run in a thread.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left

import msgspec

from tui_bench.ledger.chain import Chain
from tui_bench.ledger.lines import RawLine, parsed
from tui_bench.reading import follow
from tui_bench.tui.filter import Filter
from tui_bench.tui.row_index import RowIndex

STEP_LINES = 2000
CHECK_LINES = 1000
FAULTS_KEPT = 10_000
"""Faults whose words are kept; a file that is no ledger has one a line."""
_KEY = re.compile(r'"[a-z_0-9]+":')


class AllRows:
    """Every line. The base of the other choices: places of lines, newest first."""

    def __init__(self, index: RowIndex) -> None:
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @property
    def done(self) -> bool:
        """Whether every line known so far has been looked at."""
        return True

    @property
    def share(self) -> float:
        """How much of the known lines has been looked at, 0 to 1."""
        return 1.0

    def step(self) -> None:
        """Look at some more lines."""

    def place(self, rank: int) -> int:
        """Place of the line that has this rank from the newest; 0 is the newest."""
        return len(self._index) - 1 - rank

    def rank(self, place: int) -> int:
        """Rank of a line; of the next older one where it is not among them, and at most the oldest's."""
        return max(0, min(len(self) - 1, len(self._index) - 1 - place))

    def holds(self, place: int) -> bool:
        """Whether the line is among them."""
        return 0 <= place < len(self._index)

    def fault(self, place: int) -> str | None:
        """What is wrong with a line, where this choice knows it."""
        return None


class _Found(AllRows):
    """Lines picked one by one: `_newer` ascends from where the search began, `_older` descends."""

    def __init__(self, index: RowIndex) -> None:
        super().__init__(index)
        self._newer: array[int] = array("Q")
        self._older: array[int] = array("Q")

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def place(self, rank: int) -> int:
        newer = len(self._newer)
        return self._newer[newer - 1 - rank] if rank < newer else self._older[rank - newer]

    def rank(self, place: int) -> int:
        newer = len(self._newer)
        if newer and place >= self._newer[0]:
            at = bisect_left(self._newer, place + 1) - 1
            return newer - 1 - at
        found = newer + bisect_left(self._older, -place, key=lambda known: -known)
        return max(0, min(len(self) - 1, found))

    def holds(self, place: int) -> bool:
        return bool(len(self)) and self.place(self.rank(place)) == place


class FilteredRows(_Found):
    """Lines that a filter finds, from the newest to the oldest; lines that arrive meanwhile are looked at first."""

    def __init__(self, index: RowIndex, wanted: Filter) -> None:
        super().__init__(index)
        self._filter = wanted
        self._low = self._high = len(index)

    @property
    def done(self) -> bool:
        return self._low == 0 and self._high >= len(self._index)

    @property
    def share(self) -> float:
        known = len(self._index)
        return (self._high - self._low) / known if known else 1.0

    def step(self) -> None:
        if self._high < len(self._index):
            lines = self._index.block(self._high, self._high + STEP_LINES)
            self._newer.extend(line.number - 1 for line in lines if self._fits(line))
            self._high += len(lines)
        elif self._low > 0:
            lines = self._index.block_before(self._low, STEP_LINES)
            self._older.extend(line.number - 1 for line in reversed(lines) if self._fits(line))
            self._low -= len(lines)

    def _fits(self, line: RawLine) -> bool:
        return self._filter.matches(fields_of(line, self._filter.needs_text))


class BadRows(_Found):
    """Lines that are no row, or do not follow from the row before, found from the first line on."""

    def __init__(self, index: RowIndex) -> None:
        super().__init__(index)
        self._chain = Chain()
        self._checked = 0
        self._faults: dict[int, str] = {}

    @property
    def done(self) -> bool:
        return self._checked >= len(self._index)

    @property
    def share(self) -> float:
        known = len(self._index)
        return self._checked / known if known else 1.0

    def step(self) -> None:
        for raw in self._index.block(self._checked, self._checked + CHECK_LINES):
            line = parsed(raw)
            faults = follow(self._chain, raw, line)
            if faults:
                self._newer.append(self._checked)
                if len(self._faults) < FAULTS_KEPT:
                    self._faults[self._checked] = "; ".join(faults)
            self._checked += 1

    def fault(self, place: int) -> str | None:
        return self._faults.get(place)


class _Glance(msgspec.Struct, gc=False):
    """The members of a row that a filter asks for."""

    kind: str = ""
    seq: int | None = None
    task: str | None = None
    env: str | None = None
    agent: str | None = None
    void: str | None = None
    passed: bool | None = None
    event: str | None = None


_decoder = msgspec.json.Decoder(_Glance)
_VERDICTS = {True: "true", False: "false", None: "null"}


def fields_of(line: RawLine, with_text: bool) -> dict[str, str]:
    """A line as the filter sees it. What is no row has its place and its text alone."""
    data = line.data or b""
    fields = {"text": _KEY.sub("", data.decode("utf-8", "replace")) if with_text else ""}
    try:
        row = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return fields | {"seq": str(line.number), "kind": "damaged"}
    fields["kind"] = f"{row.kind} {row.event}" if row.event else row.kind
    fields["seq"] = str(line.number if row.seq is None else row.seq)
    fields["task"], fields["env"] = row.task or "", row.env or ""
    fields["agent"], fields["void"] = row.agent or "", row.void or ""
    fields["passed"] = _VERDICTS[row.passed] if row.kind == "attempt" else ""
    return fields
