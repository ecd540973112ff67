"""Tab separated tables as people type, paste and save them.

A byte order mark, CRLF, blank lines and `#` lines are no part of the table. Where the header has no tab, columns are
separated by spaces, as they are after pasting from a page. Anything else is refused with its line and the cure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tui_bench.study.names import unknown
from tui_bench.study.reading import Reading, show
from tui_bench.study.strict_yaml import Entries, Node, Scalar

_WIDE_GAP = re.compile(r" {2,}")


def read_table(
    file: Path, reading: Reading, columns: Sequence[str], prefixes: Sequence[str] = ()
) -> tuple[Entries, ...]:
    """The rows of a table, each as the mapping of its column names to its cells; faults are noted.

    `columns` are the known names; a name with one of `prefixes` is known as well. Columns that a row leaves out at its
    end are absent, empty cells are empty scalars.
    """
    text = reading.text(file)
    if text is None:
        return ()
    lines = [
        (number, line.rstrip("\r"))
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        reading.problem(file, None, f"holds no table; its first line names the columns: {' '.join(columns)}")
        return ()
    table = _Table(file, reading, *lines[0])
    if not table.check_header(columns, prefixes):
        return ()
    rows = [table.row(number, line) for number, line in lines[1:]]
    if not rows:
        reading.problem(file, None, "has a header and no rows; write one line for each environment")
    return tuple(row for row in rows if row is not None)


class _Table:
    def __init__(self, file: Path, reading: Reading, line_number: int, header: str) -> None:
        self._file = file
        self._reading = reading
        self._line_number = line_number
        self._tabs = "\t" in header
        self._names = self._cells(header)
        self._known: set[str] = set()

    def check_header(self, columns: Sequence[str], prefixes: Sequence[str]) -> bool:
        """Note what is wrong with the column names; false where rows cannot be assigned to them."""
        if "" in self._names:
            where = self._names.index("") + 1
            cure = "separate columns by exactly one tab"
            self._reading.problem(self._file, self._line_number, f"column {where} has no name; {cure}")
            return False
        for name in dict.fromkeys(self._names):
            if self._names.count(name) > 1:
                self._reading.problem(self._file, self._line_number, f"column {show(name)} stands twice; remove one")
            if name in columns or name.startswith(tuple(prefixes)):
                self._known.add(name)
            else:
                self._reading.problem(self._file, self._line_number, unknown("column", name, columns))
        return len(set(self._names)) == len(self._names)

    def row(self, number: int, line: str) -> Entries | None:
        """One line as a mapping; unknown columns, noted in the header, are left out."""
        cells = self._cells(line, len(self._names))
        wanted = len(self._names)
        if len(cells) > wanted or (len(cells) < wanted and (len(cells) == 1 or not self._tabs)):
            self._reading.problem(self._file, number, self._misfit(line, len(cells)))
            return None
        nodes: dict[str, Node] = {
            name: Scalar(cell, "cell", number)
            for name, cell in zip(self._names, cells, strict=False)
            if name in self._known
        }
        return Entries(nodes, dict.fromkeys(nodes, number), number)

    def _cells(self, line: str, wanted: int | None = None) -> list[str]:
        if self._tabs:
            cells = [_unquoted(cell.strip()) for cell in line.split("\t")]
            while wanted is not None and len(cells) > wanted and not cells[-1]:
                cells.pop()
            return cells
        cells = _WIDE_GAP.split(line.strip())
        words = line.split()
        # A pasted table may have closed a gap to one space; then only the count of words fits the header.
        return words if len(cells) != wanted and len(words) == wanted else cells

    def _misfit(self, line: str, count: int) -> str:
        found = f"has {count} column{'s' if count != 1 else ''} where the header has {len(self._names)}"
        if self._tabs and "\t" not in line:
            return f"{found}; the header is separated by tabs, so replace the spaces here by tabs"
        if self._tabs:
            return f"{found}; remove what is too much, or name the column in line {self._line_number}"
        return f"{found}; separate columns by tabs, also in line {self._line_number}: an empty cell needs them"


def _unquoted(cell: str) -> str:
    """Spreadsheets put cells in quotes and double the quotes inside."""
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"').strip()
    return cell
