"""A short list to choose from, on the line API. The cursor belongs to an entry's key and stays with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_bench.tui import keys
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.grid_layout import GUTTER, Span
from tui_bench.tui.widgets.line import LineBuilder, fitted

HEADER = 1
Columns = Callable[[int], dict[str, Span]]


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry: clean texts by column, each with the name of a style."""

    key: str
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)


class ChoiceList(ScrollView, can_focus=True):
    """Entries in columns. `columns` lays them out for a width."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("pane")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "choices--header", "choices--plain", "choices--muted", "choices--pass", "choices--fail", "choices--void",
        "choices--running", "choices--mark", "choices--cursor",
    }  # fmt: skip

    @dataclass
    class Moved(Message):
        """Another entry is under the cursor."""

        key: str

    @dataclass
    class Picked(Message):
        """A person wants this entry."""

        key: str

    @dataclass
    class Sideways(Message):
        """Left or right was pressed."""

        step: int

    def __init__(self, columns: Columns, id: str | None = None, *, glyphs: Glyphs) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._glyphs = glyphs
        self._choices: Sequence[Choice] = ()
        self._at = 0
        self._styles: dict[str, Style] = {}

    @property
    def chosen(self) -> str | None:
        """Key of the entry under the cursor; None while there is none."""
        return self._choices[self._at].key if self._choices else None

    def show(self, choices: Sequence[Choice]) -> None:
        """Show these entries; the same ones are not drawn again."""
        if choices == self._choices:
            return
        before = self.chosen
        self._choices = choices
        places = {one.key: number for number, one in enumerate(choices)}
        self._at = places.get(before or "", min(self._at, max(0, len(choices) - 1)))
        self.virtual_size = Size(0, len(choices) + HEADER)
        self._scroll_to_cursor()
        self.refresh()
        if self.chosen != before and self.chosen is not None:
            self.post_message(self.Moved(self.chosen))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def _style(self, name: str, here: bool = False) -> Style:
        key = f"{name}/{here}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"choices--{name}")
            if here:
                ground = self.get_component_rich_style("choices--cursor")
                style += Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
            self._styles[key] = style
        return self._styles[key]

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        columns = self._columns(width)
        if y == 0:
            line = LineBuilder(width, self._style("header"))
            for name, span in columns.items():
                line.put(span, fitted(name, span.width, self._glyphs.ellipsis))
            return line.strip()
        at = self.scroll_offset.y + y - HEADER
        if at >= len(self._choices):
            return Strip.blank(width, self.rich_style)
        here = at == self._at
        line = LineBuilder(width, self._style("plain", here))
        if here:
            line.put(Span(0, GUTTER), self._glyphs.cursor, self._style("mark", here))
        for name, span in columns.items():
            text, style = self._choices[at].cells.get(name, ("", "plain"))
            line.put(span, fitted(text, span.width, self._glyphs.ellipsis), self._style(style, here))
        return line.strip()

    @property
    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height - HEADER)

    def _go(self, at: int) -> None:
        at = min(max(at, 0), len(self._choices) - 1)
        if at >= 0 and at != self._at:
            self._at = at
            self._scroll_to_cursor()
            self.refresh()
            self.post_message(self.Moved(self._choices[at].key))

    def _scroll_to_cursor(self) -> None:
        top = self.scroll_offset.y
        if self._at < top:
            self.scroll_to(y=self._at, animate=False, immediate=True)
        elif self._at >= top + self._room:
            self.scroll_to(y=self._at - self._room + 1, animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        self._scroll_to_cursor()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and HEADER <= at.y < len(self._choices) + HEADER:
            self._go(self.scroll_offset.y + at.y - HEADER)
            if event.chain == 2:
                self.pick()

    def action_move(self, columns: int, rows: int) -> None:
        if rows:
            self._go(self._at + rows)
        else:
            self.post_message(self.Sideways(columns))

    def action_edge(self, direction: int) -> None:
        self._go(0 if direction < 0 else len(self._choices) - 1)

    def action_page(self, direction: int) -> None:
        self._go(self._at + direction * self._room)

    def pick(self) -> None:
        """Say that the entry under the cursor is wanted."""
        if self.chosen is not None:
            self.post_message(self.Picked(self.chosen))
