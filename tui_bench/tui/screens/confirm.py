"""A question before something that costs. Nothing happens without an explicit yes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_bench.tui import keys


class ConfirmScreen(ModalScreen[bool]):
    """Title, clean lines of text, and the two answers."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("confirm")

    def __init__(self, title: Content, lines: list[Content]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            for text in self._lines:
                yield Static(text, markup=False)
            yield answers("confirm")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


def answers(scope: keys.Scope) -> Static:
    """The keys of a dialog, one a line, from the key table."""
    lines = [Content.assemble((f"{key.label:<4}", "bold $accent"), f" {key.short:<10} ", (key.tooltip, "$bench-muted"))
             for key in keys.of(scope)]  # fmt: skip
    return Static(Content("\n").join(lines), classes="answers", markup=False)
