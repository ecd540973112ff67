"""The least Textual app: one line of text, one key. What the toolkit itself costs."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Static


class TrivialApp(App[None]):
    """`j` counts: K00001, K00002, ..."""

    BINDINGS: ClassVar[list[BindingType]] = [("j", "count", "count")]

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def compose(self) -> ComposeResult:
        yield Static("K00000")

    def action_count(self) -> None:
        self._count += 1
        self.query_one(Static).update(f"K{self._count:05d}")


if __name__ == "__main__":
    TrivialApp().run()
