"""One row in full beside the list: read and laid out in a thread, drawn a line at a time."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_bench.ledger.lines import RawLine
from tui_bench.tui import keys
from tui_bench.tui.row_index import RowIndex
from tui_bench.tui.row_text import TextLine, row_text

ROOMY = 15
"""Lines from which every member gets one of its own."""

Read = tuple[RawLine | None, list[TextLine]]


class RowPane(ScrollView, can_focus=True):
    """The JSON of a row with sorted keys."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("pane")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row--key", "row--value", "row--fault"}

    def __init__(self, index: RowIndex, id: str | None = None) -> None:
        super().__init__(id=id)
        self.raw: RawLine | None = None
        """The line that is shown; None while there is none."""
        self._index = index
        self._wanted: tuple[int | None, tuple[str, ...]] = (None, ())
        self._lines: list[TextLine] = []
        self._faults = 0

    def show(self, place: int | None, faults: tuple[str, ...] = ()) -> None:
        """Show the row at this place; None shows nothing."""
        wanted = (place, faults)
        if wanted != self._wanted:
            self._wanted = wanted
            self.scroll_to(y=0, animate=False, immediate=True)
            self.reload()

    def reload(self) -> None:
        """Read the row again: the file or the width is another."""
        self.run_worker(self._load(), group="row", exclusive=True)

    async def _load(self) -> None:
        place, faults = self._wanted
        width = self.scrollable_content_region.width
        if place is None or width < 2:
            self.raw, self._lines = None, []
        else:
            self.raw, self._lines = await asyncio.to_thread(
                _read, self._index, place, faults, width, self.size.height < ROOMY
            )
        self._faults = next((at for at, line in enumerate(self._lines) if not line.text), 0) if faults else 0
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.reload()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        at = self.scroll_offset.y + y
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        shown = self._lines[at]
        value = self._style("fault" if at < self._faults else "value")
        segments = [Segment(shown.text[: shown.key], self._style("key")), Segment(shown.text[shown.key :], value)]
        return Strip(segments).adjust_cell_length(width, value)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"row--{name}")

    def action_move(self, columns: int, rows: int) -> None:
        self.scroll_relative(y=rows, animate=False, immediate=True)

    def action_page(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height - 1), animate=False, immediate=True)

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False, immediate=True)


def _read(index: RowIndex, place: int, faults: tuple[str, ...], width: int, compact: bool) -> Read:
    for raw in index.lines([place]):
        return raw, row_text(raw, faults, width, compact=compact)
    return None, []
