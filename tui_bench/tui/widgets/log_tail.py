"""The log pane: a view into a file, which draws the rows that fit and holds nothing else in memory.

At the end of the file it follows what is written; scrolled up it stays where it is; frozen it stays even while a newer
log is offered. The pane never looks for a log by itself: `show` says which one.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui_bench.tui import keys, safe
from tui_bench.tui.log_file import Lines, LogFile, LogStatus, MemoryText
from tui_bench.tui.log_window import EMPTY, START, Place, Shape, Window, window

SIDE_STEP = 8
WHEEL_STEP = 3
WAITING = "no output yet"
NO_OUTPUT = "no output was written"


@dataclass(frozen=True, slots=True)
class LogSource:
    """One text that can be shown. `growing` while its attempt runs; `note` stands in where there is no text.

    It lies in a file, or in `text` where no file holds it. Logs are opened at their end, others `from_start`.
    """

    path: Path | None
    growing: bool
    note: tuple[str, ...] = ()
    text: MemoryText | None = None
    from_start: bool = False
    diff: bool = False
    prose: bool = False
    """Text in paragraphs: its lines are wrapped unless a reader unwraps them."""

    @property
    def lines(self) -> Lines | None:
        """The text itself; None where there is none to read."""
        return self.text if self.text is not None else LogFile(self.path) if self.path is not None else None

    @property
    def opening(self) -> Place | None:
        """Where it is opened; None is the end."""
        return START if self.from_start else None


class LogTail(Widget, can_focus=True):
    """A file-backed log. Reads happen in a thread; the screen is drawn from the last window that was read."""

    BINDINGS = keys.bindings("pane", "log")

    class Back(Message):
        """The reader has left the log for the grid."""

    class ViewChanged(Message):
        """Following, frozen, wrap, or the place in the file is another one now."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.frame: tuple[Content, Content] = (Content(""), Content(""))
        """Title and subtitle as they were set last."""
        self.source: LogSource | None = None
        self.frozen = False
        self.wrap = False
        self.find: re.Pattern[str] | None = None
        """What is marked wherever it stands."""
        self._place: Place | None = None
        self._left = 0
        self._window: Window = EMPTY
        self._status: LogStatus | None = None
        self._read_for: tuple[object, ...] = ()
        self._told: LogStatus | None = None
        self._reading = False
        self._stale = False
        self._shift = 0

    @property
    def following(self) -> bool:
        """At the end of the log, and staying there."""
        return self._place is None and not self.frozen

    @property
    def wrapped(self) -> bool:
        """Whether long lines of this text go on in the next row."""
        return self.wrap != (self.source is not None and self.source.prose)

    @property
    def status(self) -> LogStatus | None:
        """Size and time of last output; None while there is no file."""
        return self._status

    @property
    def lines(self) -> list[str]:
        """What is drawn, as plain text."""
        return [row.plain for row in self._rows()]

    @property
    def share(self) -> float | None:
        """How far into the file the first row lies, 0 to 1; None at the end and for an empty file."""
        if self._place is None or not self._status or not self._status.size:
            return None
        return min(1.0, self._window.top.offset / self._status.size)

    def show(self, source: LogSource | None) -> None:
        """Look at another log, from its end; ignored while frozen. The same log goes on where it is."""
        if self.frozen and self.source is not None:
            return
        if source is None or self.source is None or source.path != self.source.path:
            self._place, self._left, self._window, self._status = source.opening if source else None, 0, EMPTY, None
            self.refresh()
        self.source = source
        self.look()

    def look(self) -> None:
        """Look at the file; read it when it has changed since. Cheap enough for ten times a second."""
        lines = self.source.lines if self.source else None
        status = lines.status() if lines is not None else None
        if status is not None and self._status is not None and status.identity != self._status.identity:
            self._place = self.source.opening if self.source else None
        self._status = status
        wanted = self._wanted()
        if wanted != self._read_for:
            self._read_for = wanted
            self._read(0)

    def freeze(self, frozen: bool) -> None:
        """Stay on this log and this place, or go back to the end of the log."""
        self.frozen = frozen
        self._place = self._window.top if frozen else None
        self.look()
        self.post_message(self.ViewChanged())

    def toggle_wrap(self) -> None:
        self.wrap = not self.wrap
        self._left = 0
        if self._place is not None:
            self._place = Place(self._place.offset)
        self.look()
        self.post_message(self.ViewChanged())

    def _shape(self) -> Shape:
        diff = self.source is not None and self.source.diff
        return Shape(self.size.width, self.size.height, self.wrapped, self._left, self.find, diff)

    def _read(self, shift: int) -> None:
        """Read what is to be drawn, one read at a time; shifts that come meanwhile add up."""
        self._shift += shift
        self._stale = True
        if not self._reading:
            self._reading = True
            self.run_worker(self._load(), group="log")

    async def _load(self) -> None:
        """Read windows until the drawn one is current; scrolling down to the last row follows again unless frozen."""
        try:
            while self._stale:
                self._stale = False
                source, shape, shift = self.source, self._shape(), self._shift
                self._shift = 0
                if source is None or source.lines is None:
                    self._window = EMPTY
                    continue
                found = await asyncio.to_thread(window, source.lines, self._place, shift, shape)
                if self.source is None or (source.path, source.text) != (self.source.path, self.source.text):
                    continue
                self._window = found
                if shift or self.frozen:
                    self._place = None if found.at_end and not self.frozen else found.top
                if shift or self._status != self._told:
                    self._told = self._status
                    self.post_message(self.ViewChanged())
        finally:
            self._reading = False
        self._read_for = self._wanted()
        self.refresh()

    def _wanted(self) -> tuple[object, ...]:
        return self.source, self._status, self.size, self.wrap, self._place, self._left, self.find

    def render_line(self, y: int) -> Strip:
        style = self.visual_style
        width = self.size.width
        rows = self._rows()
        if y >= len(rows):
            return Strip.blank(width, style.rich_style)
        row = rows[y]
        strip = Strip(row.render_segments(style), row.cell_length)
        return strip.adjust_cell_length(width, style.rich_style).apply_offsets(0, y)

    def _rows(self) -> tuple[Content, ...]:
        """The rows of the file, or the note where it has none."""
        if self._window.rows or self.source is None:
            return self._window.rows
        note = self.source.note or ((WAITING if self.source.growing else NO_OUTPUT),)
        return tuple(safe.line(text).stylize("dim") for text in note)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height

    def on_resize(self, event: events.Resize) -> None:
        self.look()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._read(WHEEL_STEP)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._read(-WHEEL_STEP)

    def action_move(self, columns: int, rows: int) -> None:
        if rows:
            self._read(rows)
        elif not self.wrapped:
            self._left = max(0, self._left + columns * SIDE_STEP)
            self.look()

    def action_page(self, direction: int) -> None:
        self._read(direction * max(1, self.size.height - 1))

    def action_edge(self, direction: int) -> None:
        self._place = START if direction < 0 else None
        self._left = 0
        self.look()
        self.post_message(self.ViewChanged())

    def action_back(self) -> None:
        self.post_message(self.Back())
