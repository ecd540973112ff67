"""What one attempt took and what it was; scrolls where it does not fit."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import keys


class Resources(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Lines of `resource_lines`."""

    BINDINGS = keys.bindings("pane")

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Callable[[int], list[Content]] = lambda width: []

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, lines: Callable[[int], list[Content]]) -> None:
        """Replace the text by what `lines` gives for a width in cells."""
        self._lines = lines
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width:
            self.query_one(Static).update(Content("\n").join(self._lines(width)))

    def action_move(self, columns: int, rows: int) -> None:
        self.scroll_relative(x=columns * 4, y=rows, animate=False)

    def action_page(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height - 1), animate=False)

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
