"""Every row of a ledger: filtered, damaged ones alone, from a start to its result, each in full beside the list.

The screen reads the file by itself and shows what lies there now. Nothing is held but where lines begin; searching is
done in threads and in bounded pieces, so keys are answered however long the ledger is.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.css.query import NoMatches
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from tui_bench.ledger.lines import parsed
from tui_bench.ledger.rows import AttemptRow, EventRow
from tui_bench.tui import keys, row_links, safe
from tui_bench.tui.filter import EVERYTHING, Filter
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.row_index import Broke, RowIndex
from tui_bench.tui.row_search import AllRows, BadRows, FilteredRows
from tui_bench.tui.widgets.filter_bar import FilterBar
from tui_bench.tui.widgets.hints import Hints
from tui_bench.tui.widgets.row_pane import RowPane
from tui_bench.tui.widgets.rows_table import RowsTable

TICK_S = 0.2
PIECE_S = 0.03
"""How long one piece of work in a thread takes before what it found is shown."""
CHECKED_UNASKED = 100_000
"""Rows up to which a ledger is checked for damage without being asked: some seconds of work."""
BROKE: dict[Broke, str] = {
    "cut": "The ledger was cut or written anew: read again from its first row.",
    "replaced": "Another file took the ledger's place: read from its first row.",
    "removed": "The ledger is gone; waiting for it to come back.",
}


class LedgerScreen(Screen[None]):
    """The ledger browser."""

    CSS_PATH: ClassVar[list[str | PurePath]] = ["ledger.tcss", "filter.tcss"]
    AUTO_FOCUS = "#rows"
    HELP_OF = "ledger"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("ledger", "views")

    @dataclass
    class AttemptOpened(Message):
        """A person wants this attempt. `agent` is "" where the study has none; `number` counts from 0."""

        task: str
        env: str
        agent: str
        number: int

    def __init__(self, ledger: Path, glyphs: Glyphs, ascii_only: bool) -> None:
        super().__init__()
        self._ledger = ledger
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._index = RowIndex(ledger)
        self._all = AllRows(self._index)
        self._bad = BadRows(self._index)
        self._found: FilteredRows | None = None
        self._bad_only = False
        self._filter: Filter = EVERYTHING
        self._busy = False
        self._left = threading.Event()

    def compose(self) -> ComposeResult:
        yield Static("", id="ledger-status", markup=False)
        yield FilterBar("ledger-filter")
        with Container(id="ledger-body"):
            yield RowsTable(self._index, "rows", glyphs=self._glyphs)
            yield RowPane(self._index, "row")
        yield Hints("hints", ascii_only=self._ascii)

    def on_mount(self) -> None:
        self._table.focus()
        self._tick()
        self.set_interval(TICK_S, self._tick)

    def on_unmount(self) -> None:
        self._left.set()
        if not self._busy:
            self._index.close()

    @property
    def _table(self) -> RowsTable:
        return self.query_one(RowsTable)

    @property
    def _bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    @property
    def _pane(self) -> RowPane:
        return self.query_one(RowPane)

    @property
    def _rows(self) -> AllRows:
        """What the list shows."""
        if self._bad_only:
            return self._bad
        return self._found if self._found is not None else self._all

    def _tick(self) -> None:
        if not self._busy:
            self._busy = True
            self._look()

    @work(group="ledger")
    async def _look(self) -> None:
        """Read on and search on until there is no more to do; a piece at a time, so what is found shows at once."""
        try:
            moved = True
            while moved and not self._left.is_set():
                before = self._progress()
                broke = await asyncio.to_thread(self._piece)
                if self._left.is_set():
                    break
                moved = self._progress() != before or broke is not None
                # The app may have ended while the thread was at work: then there is nothing left to show it on.
                with suppress(NoMatches):
                    self._take(broke, moved)
        finally:
            self._busy = False
            if self._left.is_set():
                self._index.close()

    def _take(self, broke: Broke | None, moved: bool) -> None:
        """Show what a piece of work has found."""
        if broke is not None:
            self._start_again(broke)
        if moved:
            self._table.grown()
        self._show_status()

    def _piece(self) -> Broke | None:
        """A short piece of reading or searching; what made the file start again, if anything did."""
        deadline = time.monotonic() + PIECE_S
        while True:
            broke = self._index.poll()
            if broke is not None:
                return broke
            if not self._index.more or time.monotonic() > deadline or self._left.is_set():
                break
        for rows in self._searches():
            before = -1.0
            while not rows.done and rows.share != before and time.monotonic() < deadline:
                before = rows.share
                rows.step()
        return None

    def _searches(self) -> list[AllRows]:
        """What is to be searched, the one that is shown first."""
        wanted: list[AllRows] = [self._rows]
        if self._bad_only or len(self._index) <= CHECKED_UNASKED:
            wanted.append(self._bad)
        return wanted

    def _progress(self) -> tuple[object, ...]:
        return len(self._index), self._index.state, *(rows.share for rows in self._searches())

    def _start_again(self, broke: Broke) -> None:
        self._bad = BadRows(self._index)
        self._found = FilteredRows(self._index, self._filter) if self._filter else None
        self._table.forget(self._rows)
        self._pane.show(None)
        self._say(BROKE[broke], "warning")

    def _show_status(self) -> None:
        index, count = self._index, len(self._index)
        rule = f" {self._glyphs.rule} "
        parts = [Content(f"{_grouped(count)} {'row' if count == 1 else 'rows'}"), self._bad_words()]
        following = self._table.following
        word = "following" if following else "staying"
        sign = self._glyphs.alive if following else self._glyphs.frozen
        parts.append(Content.assemble((f"{word} {sign}", "$bench-pass" if following else "$bench-void")))
        right = Content(rule).join(parts)
        left = Content.assemble((" tui_bench", "bold"), f"{rule}Ledger  ")
        room = self.size.width - left.cell_length - right.cell_length - 2
        path = safe.line(_short(self._ledger)).truncate(max(0, room), ellipsis=True)
        gap = max(1, self.size.width - left.cell_length - path.cell_length - right.cell_length - 1)
        self.query_one("#ledger-status", Static).update(Content.assemble(left, path, " " * gap, right))
        self._bar.say(self._count_words())
        self._table.border_title = Content(self._title())
        missing = index.state != "reading" or not count
        self._table.border_subtitle = safe.line(self._nothing()) if missing else Content(self._order_words())

    def _title(self) -> str:
        return "Damaged rows" if self._bad_only else "Rows found" if self._found is not None else "Rows"

    def _order_words(self) -> str:
        return "newest first" if self._table.newest_first else "ledger order"

    def _nothing(self) -> str:
        """Why there is no row."""
        if self._index.state == "missing":
            return "no such file; waiting for it"
        if self._index.state == "unreadable":
            return f"cannot be read: {self._index.reason}; check its permissions"
        return "no complete row yet"

    def _bad_words(self) -> Content:
        bad = self._bad
        if not bad.done and not self._bad_only and len(self._index) > CHECKED_UNASKED:
            return Content("b looks for damage")
        colour = "$bench-fail" if len(bad) else "$bench-muted"
        so_far = "" if bad.done else f" in {bad.share:.0%}"
        return Content.assemble((f"{_grouped(len(bad))} bad{so_far}", colour))

    def _count_words(self) -> Content:
        rows, count = self._rows, len(self._index)
        if rows is self._all:
            return Content("")
        so_far = "" if rows.done else f", {rows.share:.0%} looked at"
        return Content(f"{_grouped(len(rows))} of {_grouped(count)} rows{so_far}")

    def on_resize(self, event: events.Resize) -> None:
        self._show_status()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        hints = self.query_one(Hints)
        if self._bar.editing:
            hints.show("filter")
        elif event.widget is self._table:
            hints.show("app", "ledger", "views", "pane", "rows")
        else:
            hints.show("app", "ledger", "views", "pane")

    @on(FilterBar.Changed)
    def _filtered(self, event: FilterBar.Changed) -> None:
        self._filter = event.filter
        self._bad_only = False
        self._found = FilteredRows(self._index, event.filter) if event.filter else None
        self._table.show_rows(self._rows)
        self._show_status()
        self._tick()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self._table.focus()

    @on(RowsTable.CursorMoved)
    def _row_chosen(self, event: RowsTable.CursorMoved) -> None:
        shown = self._table.chosen
        known = self._bad.fault(event.place)
        faults = (known,) if known else (shown.note,) if shown is not None and shown.damaged else ()
        self._pane.show(event.place, faults)
        self._pane.border_title = Content(f"Row {shown.seq}" if shown is not None else "Row")

    @on(RowsTable.FollowChanged)
    def _follow_changed(self) -> None:
        self._show_status()

    @on(RowsTable.Opened)
    async def _open(self, event: RowsTable.Opened) -> None:
        for raw in await asyncio.to_thread(self._index.lines, [event.place]):
            row = parsed(raw).row
            number = row.attempt if isinstance(row, AttemptRow) else row.number if isinstance(row, EventRow) else None
            if isinstance(row, AttemptRow | EventRow) and row.task and row.env and number is not None:
                self.post_message(self.AttemptOpened(row.task, row.env, row.agent or "", number))
                return
        self._say("This row is of no attempt.", "warning")

    def action_filter(self) -> None:
        self._bar.open()

    def action_back(self) -> None:
        """First out of the damaged rows, then out of the filter, then out of the screen."""
        if self._bad_only:
            self.action_bad()
        elif self._filter:
            self._bar.clear()
        else:
            self.dismiss()

    def action_bad(self) -> None:
        self._bad_only = not self._bad_only
        self._table.show_rows(self._rows)
        self._show_status()
        self._tick()

    def action_follow(self) -> None:
        self._table.follow(not self._table.following)

    def action_order(self) -> None:
        self._table.turn()
        self._show_status()

    def action_copy(self) -> None:
        raw = self._pane.raw
        if raw is None or raw.data is None:
            self._say("There is no row to copy.", "warning")
            return
        self.app.copy_to_clipboard(raw.data.decode("utf-8", "replace"))
        self._say(f"Copied row {raw.number}.")

    @work(group="links", exclusive=True)
    async def action_linked(self, direction: int) -> None:
        """Go to the row that this one belongs to; a filter that hides it gives way."""
        here = self._table.cursor
        if here is None:
            return
        search: Callable[[RowIndex, int], int | None] = row_links.earlier if direction < 0 else row_links.later
        found = await asyncio.to_thread(search, self._index, here)
        if found is None:
            word = "before" if direction < 0 else "after"
            self._say(f"No row {word} this one belongs to it.", "warning")
            return
        if not self._rows.holds(found):
            self._bad_only = False
            self._bar.clear()
            self._found, self._filter = None, EVERYTHING
            self._table.show_rows(self._rows)
            self._say(f"Row {found + 1} is outside the filter: showing all rows.")
        self._table.go_to(found)

    def _say(self, message: str, severity: SeverityLevel = "information") -> None:
        self.notify(safe.text(message), severity=severity, markup=False)


def _grouped(count: int) -> str:
    """Digits in groups of three, with a space that does not break."""
    return f"{count:,}".replace(",", " ")


def _short(path: Path) -> str:
    """The path below the current folder where it lies there."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
