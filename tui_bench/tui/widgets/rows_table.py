"""Rows of a ledger as a list: only those on the screen are read, in a thread; the rest is a number in an array.

The cursor belongs to a row of the ledger. Rows that arrive move neither the cursor nor what is on the screen, unless
the list follows the newest one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_bench.tui import keys, safe
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.row_brief import Brief, brief
from tui_bench.tui.row_index import RowIndex
from tui_bench.tui.row_search import AllRows
from tui_bench.tui.widgets.grid_layout import GUTTER, Span
from tui_bench.tui.widgets.line import LineBuilder, fitted, fitted_middle
from tui_bench.tui.widgets.row_columns import TITLES, row_columns

HEADER = 1
BRIEFS_KEPT = 4000


class RowsTable(ScrollView, can_focus=True):
    """The rows of a choice. Tell it `grown` when the choice may have more, `show_rows` when it is another one."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("pane", "rows")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--header", "rows--plain", "rows--muted", "rows--pass", "rows--fail", "rows--void", "rows--mark",
        "rows--cursor",
    }  # fmt: skip

    @dataclass
    class CursorMoved(Message):
        """Another row is chosen, by a person or because it is the newest. `place` is its line, from 0."""

        place: int

    @dataclass
    class Opened(Message):
        """A person wants the attempt of this row."""

        place: int

    class FollowChanged(Message):
        """The list follows the newest row, or does not any more."""

    def __init__(self, index: RowIndex, id: str | None = None, *, glyphs: Glyphs) -> None:
        super().__init__(id=id)
        self.following = True
        self.newest_first = True
        self._index = index
        self._glyphs = glyphs
        self._rows = AllRows(index)
        self._total = 0
        self._cursor: int | None = None
        self._wanted: int | None = None
        """The row that was chosen last, also while a filter hides it."""
        self._top: int | None = None
        self._agents = False
        self._briefs: dict[int, Brief] = {}
        self._loading = False
        self._styles: dict[str, Style] = {}

    @property
    def cursor(self) -> int | None:
        """Place of the chosen row; None while there is none."""
        return self._cursor if self._total else None

    @property
    def chosen(self) -> Brief | None:
        """The chosen row in short, once it is read."""
        return self._briefs.get(self._cursor) if self._cursor is not None and self._total else None

    def show_rows(self, rows: AllRows) -> None:
        """Show another choice of rows; the cursor stays on its row, or goes to the nearest that is shown."""
        self._rows = rows
        self._top = None
        self.grown()

    def forget(self, rows: AllRows) -> None:
        """The ledger is another one: nothing that was read still holds."""
        self._briefs.clear()
        self._cursor = self._wanted = self._top = None
        self.following = True
        self.show_rows(rows)

    def grown(self) -> None:
        """Take in what the choice found meanwhile."""
        self._total = len(self._rows)
        self.virtual_size = Size(0, self._total + HEADER)
        if self._total:
            self._settle()
        self._top = self._place_at(self.scroll_offset.y)
        self.refresh()
        self._load()

    def _settle(self) -> None:
        """Put cursor and view back where they were, by rows and not by numbers."""
        before = self._cursor
        if self.following or self._wanted is None:
            self._cursor = self._wanted = self._rows.place(0)
        else:
            self._cursor = self._rows.place(self._rows.rank(self._wanted))
        if self._top is not None and not self.following:
            self.scroll_to(y=self._position(self._top), animate=False, immediate=True)
        else:
            self._scroll_to_cursor()
        if self._cursor != before and self._cursor is not None:
            self.post_message(self.CursorMoved(self._cursor))

    def _position(self, place: int) -> int:
        """Line of the list, from 0, on which a row stands."""
        rank = self._rows.rank(place)
        return rank if self.newest_first else self._total - 1 - rank

    def _place_at(self, position: int) -> int | None:
        if not 0 <= position < min(self._total, len(self._rows)):
            return None
        return self._rows.place(position if self.newest_first else len(self._rows) - 1 - position)

    @property
    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height - HEADER)

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._top = self._place_at(round(new))
        self._load()

    def turn(self) -> None:
        """The other order; the cursor stays on its row."""
        self.newest_first = not self.newest_first
        self._top = None
        self.grown()
        self._scroll_to_cursor()

    def follow(self, on: bool) -> None:
        """Stay with the newest row, or on this one."""
        self.following = on
        self.grown()
        self.post_message(self.FollowChanged())

    def go_to(self, place: int) -> None:
        """Choose a row of the choice."""
        self._cursor = self._wanted = place
        self.following = False
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.CursorMoved(place))
        self.post_message(self.FollowChanged())

    def _go(self, position: int) -> None:
        """Put the cursor on a line of the list; on the newest row the list follows again."""
        place = self._place_at(min(max(position, 0), self._total - 1))
        if place is None:
            return
        self.go_to(place)
        self.following = self._rows.rank(place) == 0

    def _scroll_to_cursor(self) -> None:
        if self._cursor is None or not self._total:
            return
        at, top = self._position(self._cursor), self.scroll_offset.y
        if at < top:
            self.scroll_to(y=at, animate=False, immediate=True)
        elif at >= top + self._room:
            self.scroll_to(y=at - self._room + 1, animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        self._scroll_to_cursor()
        self.refresh()
        self._load()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def _visible(self) -> list[int]:
        top = self.scroll_offset.y
        places = (self._place_at(position) for position in range(top, top + self._room + 1))
        return [place for place in places if place is not None]

    def _load(self) -> None:
        """Read what is on the screen and not known yet."""
        if self.is_mounted and not self._loading and any(place not in self._briefs for place in self._visible()):
            self._loading = True
            self.run_worker(self._read(), group="rows")

    async def _read(self) -> None:
        try:
            while missing := [place for place in self._visible() if place not in self._briefs]:
                index = self._index
                found = await asyncio.to_thread(_briefs, index, missing)
                if not found:
                    break
                if len(self._briefs) > BRIEFS_KEPT:
                    self._briefs.clear()
                self._briefs |= found
                self._agents = self._agents or any(one.agent for one in found.values())
                self.refresh()
                if self._cursor in found:
                    self.post_message(self.CursorMoved(self._cursor))
        finally:
            self._loading = False

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        columns = row_columns(width, agents=self._agents)
        if y == 0:
            line = LineBuilder(width, self._style("header"))
            for name, span in columns.items():
                line.put(span, fitted(TITLES.get(name, name), span.width, self._glyphs.ellipsis))
            return line.strip()
        place = self._place_at(self.scroll_offset.y + y - HEADER)
        return self._row(place, columns, width) if place is not None else Strip.blank(width, self.rich_style)

    def _row(self, place: int, columns: dict[str, Span], width: int) -> Strip:
        here = place == self._cursor
        line = LineBuilder(width, self._style("plain", here))
        if here:
            line.put(Span(0, GUTTER), self._glyphs.cursor, self._style("mark", here))
        shown = self._briefs.get(place)
        if shown is None:
            line.put(columns["seq"], str(place + 1), self._style("muted", here))
            return line.strip()
        fault = self._rows.fault(place)
        if shown.damaged or fault is not None:
            self._put_fault(line, shown, safe.text(fault or shown.note), columns, here)
            return line.strip()
        for name, span in _roomy(columns, shown).items():
            text, style = self._cell(name, shown)
            cut = fitted_middle if name in ("task", "env") else fitted
            line.put(span, cut(text, span.width, self._glyphs.ellipsis), self._style(style, here))
        return line.strip()

    def _cell(self, name: str, shown: Brief) -> tuple[str, str]:
        text: str = getattr(shown, name)
        if name in ("seq", "time", "wall"):
            return text, "muted"
        if name == "verdict" and text:
            sign = {"pass": self._glyphs.passed, "fail": self._glyphs.failed, "void": self._glyphs.void}[text]
            return f"{sign} {text}", text
        return (
            text,
            "muted" if shown.tone == "muted" else "void" if shown.tone == "void" and name == "note" else "plain",
        )

    def _put_fault(self, line: LineBuilder, shown: Brief, fault: str, columns: dict[str, Span], here: bool) -> None:
        """A damaged row: its number, then what is wrong over the whole width."""
        line.put(columns["seq"], shown.seq, self._style("muted", here))
        line.put(columns["kind"], fitted(shown.kind, columns["kind"].width, self._glyphs.ellipsis))
        start = columns["task"].start
        rest = Span(start, self.scrollable_content_region.width - start)
        line.put(rest, fitted(fault, rest.width, self._glyphs.ellipsis), self._style("fail", here))

    def _style(self, name: str, here: bool = False) -> Style:
        key = f"{name}/{here}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"rows--{name}")
            if here:
                ground = self.get_component_rich_style("rows--cursor")
                style += Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
            self._styles[key] = style
        return self._styles[key]

    def action_move(self, columns: int, rows: int) -> None:
        if rows and self._cursor is not None:
            self._go(self._position(self._cursor) + rows)

    def action_edge(self, direction: int) -> None:
        self._go(0 if direction < 0 else self._total - 1)

    def action_page(self, direction: int) -> None:
        if self._cursor is not None:
            self._go(self._position(self._cursor) + direction * self._room)

    def action_open(self) -> None:
        if self.cursor is not None:
            self.post_message(self.Opened(self.cursor))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._let_go()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._let_go()

    def _let_go(self) -> None:
        """A view that is scrolled by hand stays where it is put."""
        if self.following:
            self.following = False
            self.post_message(self.FollowChanged())

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.y >= HEADER:
            self._go(self.scroll_offset.y + at.y - HEADER)
            if event.chain == 2:
                self.action_open()


def _roomy(columns: dict[str, Span], shown: Brief) -> dict[str, Span]:
    """The same columns; a reason takes the cells of the columns before it that this row leaves empty."""
    if not shown.note or shown.verdict:
        return columns
    names = list(columns)
    first = names.index("note")
    while not getattr(shown, names[first - 1]):
        first -= 1
    note = columns["note"]
    start = columns[names[first]].start
    wider = {name: columns[name] for name in (*names[:first], *names[names.index("note") + 1 :])}
    return wider | {"note": Span(start, note.start + note.width - start)}


def _briefs(index: RowIndex, places: list[int]) -> dict[int, Brief]:
    return {line.number - 1: brief(line) for line in index.lines(places)}
