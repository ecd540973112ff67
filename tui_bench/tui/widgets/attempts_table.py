"""The attempts of one task on the line API: only rows on the screen are drawn and only theirs are read.

The cursor belongs to an attempt by name, so rows that arrive above it never move it to another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_bench.analysis.task_attempts import Name, TaskAttempt
from tui_bench.tui import keys
from tui_bench.tui.attempt_cells import Cells
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.grid_layout import Span
from tui_bench.tui.widgets.line import LineBuilder, fitted

HEADER = 1
GUTTER = 2
GAP = 2
TITLES = {"number": "#", "agent": "agent", "env": "env", "verdict": "verdict", "wall": "wall",
          "tokens": "tokens in/out", "patch": "patch"}  # fmt: skip
MOST = {"number": 5, "agent": 14, "env": 14, "verdict": 24, "wall": 10, "tokens": 13, "patch": 7}
LEAST = {"agent": 4, "env": 4, "verdict": 6}
"""Columns that give way to these widths where room is short."""
FIRST_TO_GO = ("patch", "tokens", "wall")
RIGHT = ("wall",)


class AttemptsTable(ScrollView, can_focus=True):
    """Attempts in order. `look` gives the cells of one, and is asked for those on the screen alone."""

    ALLOW_SELECT = False
    BINDINGS = keys.bindings("pane", "attempts")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "attempts--header", "attempts--plain", "attempts--pass", "attempts--fail", "attempts--void",
        "attempts--running", "attempts--queued", "attempts--mark", "attempts--cursor",
    }  # fmt: skip

    @dataclass
    class Chosen(Message):
        """A person has moved to another attempt."""

        name: Name

    class Opened(Message):
        """A person wants to read the texts of the attempt."""

    def __init__(self, look: Callable[[TaskAttempt], Cells], glyphs: Glyphs, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look = look
        self._glyphs = glyphs
        self._attempts: list[TaskAttempt] = []
        self._row = 0
        self._widths: dict[str, int] = {}
        self._styles: dict[str, Style] = {}

    @property
    def chosen(self) -> TaskAttempt | None:
        """The attempt under the cursor; None while there is none."""
        return self._attempts[self._row] if self._attempts else None

    @property
    def on_screen(self) -> list[TaskAttempt]:
        """Those whose rows are drawn now."""
        first = self.scroll_offset.y
        return self._attempts[first : first + max(1, self._room.height - HEADER)]

    @property
    def has_column(self) -> set[str]:
        """Names of the columns that fit."""
        return set(self._columns())

    def show(self, attempts: list[TaskAttempt], name: Name | None = None) -> None:
        """Take these attempts; the cursor goes to `name`, else stays on its own."""
        wanted = name or (self.chosen.name if self.chosen is not None else None)
        grown = len(attempts) != len(self._attempts)
        self._attempts = attempts
        place = next((at for at, one in enumerate(attempts) if one.name == wanted), self._row)
        moved, self._row = place != self._row, max(0, min(place, len(attempts) - 1))
        self.virtual_size = Size(0, len(attempts) + HEADER)
        if grown:
            self.refresh(layout=True)
        self.redraw()
        if moved or name is not None:
            self.call_after_refresh(self._scroll_to_cursor)

    def redraw(self) -> None:
        """Draw anew: times have gone on, or rows have been read."""
        self._widths = {}
        self.refresh()

    @property
    def _room(self) -> Size:
        return self.scrollable_content_region.size

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._attempts) + HEADER

    def on_resize(self, event: events.Resize) -> None:
        self.redraw()
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def _style(self, name: str, *, here: bool = False, struck: bool = False, aside: bool = False) -> Style:
        key = f"{name}/{here}/{struck}/{aside}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"attempts--{name}")
            if here:
                style += Style(bgcolor=self.get_component_rich_style("attempts--cursor").bgcolor)
            style += Style(strike=True, bold=False, underline=False) if struck else Style()
            self._styles[key] = style + Style(italic=True) if aside else style
        return self._styles[key]

    def _columns(self) -> dict[str, Span]:
        """Where the columns lie: as wide as what is on the screen, the last ones gone where room is short."""
        if not self._widths:
            shown = [self._look(one) for one in self.on_screen]
            for field in fields(Cells):
                if field.name in TITLES:
                    texts = [cell_len(getattr(cells, field.name)) for cells in shown]
                    title = cell_len(TITLES[field.name])
                    self._widths[field.name] = min(MOST[field.name], max([title, *texts]))
            if not any(cells.agent for cells in shown):
                del self._widths["agent"]
        return _placed(dict(self._widths), self._room.width)

    def render_line(self, y: int) -> Strip:
        columns, width = self._columns(), self._room.width
        if y < HEADER:
            line = LineBuilder(width, self._style("header"))
            for name, span in columns.items():
                line.put(span, _aligned(name, TITLES[name], span, self._glyphs))
            return line.strip()
        row = self.scroll_offset.y + y - HEADER
        if not 0 <= row < len(self._attempts):
            return Strip.blank(width, self.rich_style)
        return self._line(self._look(self._attempts[row]), columns, width, row == self._row)

    def _line(self, cells: Cells, columns: dict[str, Span], width: int, here: bool) -> Strip:
        line = LineBuilder(width, self._style("plain", here=here))
        if here:
            line.put(Span(0, GUTTER), self._glyphs.cursor, self._style("mark", here=True))
        for name, span in columns.items():
            tone = cells.tone if name == "verdict" else "queued" if cells.tone == "queued" or cells.struck else "plain"
            text = _aligned(name, getattr(cells, name), span, self._glyphs)
            drawn = Span(span.start, min(span.width, cell_len(text)))
            line.put(drawn, text, self._style(tone, here=here, struck=cells.struck, aside=cells.aside))
        return line.strip()

    def action_move(self, columns: int, rows: int) -> None:
        if rows:
            self._go(self._row + rows)
        else:
            self._go_beside(columns)

    def action_edge(self, direction: int) -> None:
        self._go(0 if direction < 0 else len(self._attempts) - 1)

    def action_page(self, direction: int) -> None:
        self._go(self._row + direction * max(1, self._room.height - HEADER - 1))

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def go_to_telling(self, direction: int) -> bool:
        """Move to the next attempt that failed or is void, round the end; False where there is no other."""
        count = len(self._attempts)
        for step in range(1, count):
            row = (self._row + direction * step) % count
            cells = self._look(self._attempts[row])
            if cells.tone in ("fail", "void") and not cells.struck:
                self._go(row)
                return True
        return False

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and place.y >= HEADER:
            row = self.scroll_offset.y + place.y - HEADER
            if row < len(self._attempts):
                self._go(row)

    def _go_beside(self, step: int) -> None:
        """The same agent's attempt of the same number in the next or previous environment."""
        here = self.chosen
        if here is None:
            return
        agent = here.key[2]
        environments = list(dict.fromkeys(one.key[1] for one in self._attempts))
        at = environments.index(here.key[1]) + step
        if not 0 <= at < len(environments):
            return
        beside = [row for row, one in enumerate(self._attempts) if one.key[1:] == (environments[at], agent)]
        same = [row for row in beside if self._attempts[row].name[1:] == here.name[1:]]
        close = [row for row in beside if self._attempts[row].kind == "planned"]
        numbered = [row for row in close if self._attempts[row].number == here.number]
        if wanted := (same or numbered or close):
            self._go(wanted[0])

    def _go(self, row: int) -> None:
        row = max(0, min(row, len(self._attempts) - 1))
        if row == self._row or not self._attempts:
            return
        old, self._row = self._row, row
        self.refresh_line(old + HEADER)
        self.refresh_line(row + HEADER)
        self._scroll_to_cursor()
        self.post_message(self.Chosen(self._attempts[row].name))

    def _scroll_to_cursor(self) -> None:
        room, top = max(1, self._room.height - HEADER), self.scroll_offset.y
        if self._row < top:
            self.scroll_to(y=self._row, animate=False)
        elif self._row >= top + room:
            self.scroll_to(y=self._row - room + 1, animate=False)

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        if round(old) != round(new):
            self.redraw()


def _placed(widths: dict[str, int], room: int) -> dict[str, Span]:
    """Columns one after the other; where room is short the last go first, then names give way."""
    for name in FIRST_TO_GO:
        if _total(widths) <= room:
            break
        widths.pop(name, None)
    for name in ("env", "agent", "verdict"):
        if name in widths and _total(widths) > room:
            widths[name] = max(LEAST[name], widths[name] - (_total(widths) - room))
    spans: dict[str, Span] = {}
    at = GUTTER
    for name, width in widths.items():
        spans[name] = Span(at, width)
        at += width + GAP
    return spans


def _total(widths: dict[str, int]) -> int:
    return GUTTER + sum(widths.values()) + GAP * (len(widths) - 1)


def _aligned(name: str, text: str, span: Span, glyphs: Glyphs) -> str:
    shown = fitted(text, span.width, glyphs.ellipsis)
    return " " * (span.width - cell_len(shown)) + shown if name in RIGHT else shown
