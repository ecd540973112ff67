"""Which log is on the table: the one a person chose, else the newest running attempt, else the cursor's cell."""

from __future__ import annotations

from tui_bench.analysis.state import CellKey, RunState
from tui_bench.ledger.runs import Layout
from tui_bench.tui.board import newest_running
from tui_bench.tui.log_choice import LogEntry, Part, default_entry, entries


class LogDesk:
    """Remembers a choice of cell, and of one log in it, by name: new rows never change what was chosen."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._key: CellKey | None = None
        self._name: tuple[int, Part] | None = None

    @property
    def chosen(self) -> bool:
        """Whether a person has chosen a cell; until then the newest running attempt is shown."""
        return self._key is not None

    def choose(self, key: CellKey) -> None:
        """Look at this cell; at its most telling log when it is another one than before."""
        if key != self._key:
            self._key, self._name = key, None

    def entry(self, state: RunState, cursor: CellKey | None) -> LogEntry | None:
        """The log to show now; None while there is no cell at all."""
        found = self._found(state, cursor)
        if not found:
            return None
        named = next((entry for entry in found if entry.name == self._name), None)
        return named or default_entry(state, found)

    def shift(self, state: RunState, cursor: CellKey | None, step: int) -> None:
        """Choose the next or previous log of the cell; the first and the last have none beyond."""
        found = self._found(state, cursor)
        now = self.entry(state, cursor)
        if now is None:
            return
        place = min(max(found.index(now) + step, 0), len(found) - 1)
        self._key, self._name = now.key, found[place].name

    def _found(self, state: RunState, cursor: CellKey | None) -> list[LogEntry]:
        key = self._key
        if key is None:
            newest = newest_running(list(state.running.values()))
            key = newest.key if newest else cursor
        return entries(state, self._layout, key) if key is not None else []
