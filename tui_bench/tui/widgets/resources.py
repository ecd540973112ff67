"""What one attempt took and what it was; scrolls where it does not fit."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import keys


class Resources(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Lines of `resource_lines`."""

    BINDINGS = keys.bindings("pane")

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, lines: list[Content]) -> None:
        """Replace the text; nothing is drawn anew when it is the same."""
        self.query_one(Static).update(Content("\n").join(lines))

    def action_move(self, columns: int, rows: int) -> None:
        self.scroll_relative(x=columns * 4, y=rows, animate=False)

    def action_page(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height - 1), animate=False)

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
