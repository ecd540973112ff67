"""Sentences above everything else, as many whole ones as there is room for."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import safe

TALL = 35
MOST_TALL, MOST_LOW = 4, 2
"""Lines on a screen of `TALL` lines and more, and on others."""


class HeadLine(Static):
    """The weightiest sentence first; what does not fit is left out from the end."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._sentences: list[str] = []

    def show(self, sentences: list[str]) -> None:
        """Replace the text; the same one costs nothing."""
        clean = [safe.text(sentence) for sentence in sentences]
        if clean != self._sentences:
            self._sentences = clean
            self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        screen = self.screen.size
        most = MOST_TALL if screen.height >= TALL else MOST_LOW
        if self.screen.has_class("-too-small"):
            most = screen.height
        width = self.content_size.width or screen.width - 2
        self.update(Content(whole_sentences(self._sentences, width, most)))


def whole_sentences(sentences: list[str], width: int, most: int) -> str:
    """As many sentences from the first as stand in `most` lines of `width` cells; the first one in any case."""
    for count in range(len(sentences), 1, -1):
        text = "  ".join(sentences[:count])
        if len(Content(text).wrap(max(1, width))) <= most:
            return text
    return sentences[0] if sentences else ""
