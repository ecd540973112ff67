"""The line in which a search is typed. Pasted text is cleaned before it is drawn."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import Input

from tui_bench.tui import keys, safe

MOST = 500


class SearchLine(Input):
    """Enter searches, escape closes; empty it ends the search."""

    BINDINGS = keys.bindings("search")

    class Abandoned(Message):
        """The line was closed without a search."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, compact=True, max_length=MOST, select_on_focus=True)

    def _on_paste(self, event: events.Paste) -> None:
        super()._on_paste(events.Paste(safe.text(event.text.splitlines()[0], MOST) if event.text else ""))
        event.prevent_default()
        event.stop()

    def action_abandon(self) -> None:
        self.post_message(self.Abandoned())
