"""Something a person must know once, with what to do about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_bench.tui import keys
from tui_bench.tui.screens.confirm import answers


class NoticeScreen(ModalScreen[None]):
    """Title and clean lines of text."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("notice")

    def __init__(self, title: Content, lines: list[Content]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            for text in self._lines:
                yield Static(text, markup=False)
            yield answers("notice")
