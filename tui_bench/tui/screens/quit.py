"""What is to become of the run when the screen is left while attempts are running."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_bench.tui import keys
from tui_bench.tui.screens.confirm import answers

Answer = Literal["detach", "stop", "stay"]


class QuitScreen(ModalScreen[Answer]):
    """Detach, stop or stay; nothing is lost by any of them."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("quit")

    def __init__(self, running: int, left: int) -> None:
        super().__init__()
        self._at_work = running
        self._queued = left

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Quit")
            said = f"A run is in progress: {self._at_work} running, {self._queued} left."
            yield Static(Content(said), markup=False)
            yield answers("quit")
            yield Static(Content("Rows on disk stay. A stopped run can be resumed."), classes="aside", markup=False)

    def action_answer(self, answer: Answer) -> None:
        self.dismiss(answer)
