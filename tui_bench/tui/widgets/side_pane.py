"""A pane of text beside or below the grid: it scrolls where it does not fit, and draws only when its text changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import keys

Writer = Callable[[int], Content]
"""Gives the text for a width in cells."""


class SidePane(VerticalScroll, can_focus=True):
    """Text of a `Writer`, written anew when told and when its width changes, never while it is hidden."""

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("pane")

    def __init__(self, id: str | None = None, *, title: str = "") -> None:
        super().__init__(id=id, classes="side-pane")
        self.frame: tuple[Content, Content] = (Content(""), Content(""))
        """Title and subtitle as they were set last."""
        self._writer: Writer | None = None
        self._said = Content("")
        self.border_title = Content(title)

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def write(self, writer: Writer) -> None:
        """Show this text."""
        self._writer = writer
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def on_show(self, event: events.Show) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if self._writer is None or not width or not self.display:
            return
        said = self._writer(width)
        if not said.is_same(self._said):
            self._said = said
            self.query_one(Static).update(Content.assemble(said))

    def action_move(self, columns: int, rows: int) -> None:
        self.scroll_relative(y=rows, animate=False)

    def action_page(self, direction: int) -> None:
        self.scroll_relative(y=direction * max(1, self.size.height - 1), animate=False)

    def action_edge(self, direction: int) -> None:
        self.scroll_to(y=0 if direction < 0 else self.max_scroll_y, animate=False)
