"""What is to be copied: a short menu, one key an answer."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui_bench.tui import keys
from tui_bench.tui.screens.confirm import answers

What = Literal["row", "path", "command", "diff", ""]


class CopyScreen(ModalScreen[What]):
    """Answers what to copy; "" for nothing."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("copy")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Copy")
            yield answers("copy")

    def action_answer(self, what: What) -> None:
        self.dismiss(what)
