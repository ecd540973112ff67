"""A text of one attempt: a log, a diff, a prompt or a row, with search. Reads what fits and holds nothing else."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

from textual.message import Message

from tui_bench.tui import keys
from tui_bench.tui.log_search import Hit, Wanted, search, wanted
from tui_bench.tui.log_window import Place
from tui_bench.tui.widgets.log_tail import LogSource, LogTail

ABOVE = 3
"""A match stands a third of the way down: `height // ABOVE` rows above it are seen."""


class FileView(LogTail, inherit_bindings=False):
    """The log pane with a search that stays while one goes from text to text."""

    BINDINGS = keys.bindings("pane")

    @dataclass
    class Searched(Message):
        """A search has ended; `hit` is None where nothing was found."""

        text: str
        hit: Hit | None

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sought: Wanted | None = None
        self.hit: Hit | None = None
        self._stop = threading.Event()

    def show(self, source: LogSource | None) -> None:
        """Look at another text; what was sought stays marked."""
        before = self.source
        super().show(source)
        if self.source != before:
            self.hit = None
            self._stop.set()

    def on_unmount(self) -> None:
        self._stop.set()

    def seek(self, text: str) -> None:
        """Mark a text and go to its next place from here; an empty one ends the search."""
        self._stop.set()
        self.hit = None
        self.sought = wanted(text) if text else None
        self.find = self.sought.shown if self.sought is not None else None
        self.look()
        if self.sought is not None:
            self.seek_next(forward=True)
        else:
            self.post_message(self.ViewChanged())

    def seek_next(self, *, forward: bool) -> None:
        """Go to the next or the previous place; a search that is still going on is given up."""
        if self.sought is None or self.source is None:
            return
        self._stop.set()
        self._stop = threading.Event()
        self.run_worker(self._seek(self.source, self.sought, forward, self._stop), group="search", exclusive=True)

    async def _seek(self, source: LogSource, sought: Wanted, forward: bool, stop: threading.Event) -> None:
        lines = source.lines
        hit = None
        if lines is not None:
            start = self._from(forward)
            hit = await asyncio.to_thread(search, lines, sought, start, forward=forward, stop=stop)
        if stop.is_set() or self.source != source:
            return
        if hit is not None:
            self.hit = hit
            self._go_to(hit)
        self.post_message(self.Searched(sought.text, hit))

    def _from(self, forward: bool) -> int:
        """Where to look on: beyond the match one is at, else from the first row drawn."""
        if self.hit is not None:
            return self.hit.offset + (1 if forward else 0)
        return self._window.top.offset

    def _go_to(self, hit: Hit) -> None:
        """Put the match on the screen, a third of the way down, scrolled sideways where it lies to the right."""
        width = max(1, self.size.width)
        if self.wrapped:
            self._place = Place(hit.place.offset, hit.column // width)
        else:
            self._place = hit.place
            self._left = 0 if hit.column < width - 2 else hit.column - width // 3
        self._read(-(self.size.height // ABOVE))
        self.post_message(self.ViewChanged())

    def action_move(self, columns: int, rows: int) -> None:
        self.hit = None
        super().action_move(columns, rows)

    def action_page(self, direction: int) -> None:
        self.hit = None
        super().action_page(direction)

    def action_edge(self, direction: int) -> None:
        self.hit = None
        super().action_edge(direction)
