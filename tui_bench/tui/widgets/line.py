"""One line of cells put together from pieces at fixed places; wide and combining characters keep their columns."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui_bench.tui.widgets.grid_layout import Span


def fitted(text: str, width: int, ellipsis: str) -> str:
    """`text` in at most `width` cells; a cut is marked by the one-cell `ellipsis`."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ellipsis if width > 0 else ""


def fitted_middle(text: str, width: int, ellipsis: str) -> str:
    """Like `fitted`, but the middle is left out: names of one family differ at their ends."""
    if cell_len(text) <= width or width < 5:
        return fitted(text, width, ellipsis)
    tail = ""
    for character in reversed(text):
        if cell_len(character + tail) > (width - 1) // 2:
            break
        tail = character + tail
    while tail and cell_len(tail[0]) == 0:
        tail = tail[1:]
    return set_cell_size(text, width - 1 - cell_len(tail)).rstrip() + ellipsis + tail


class LineBuilder:
    """A line of `width` cells in a ground style. Later pieces cover earlier ones that lie within them."""

    def __init__(self, width: int, ground: Style) -> None:
        self._width = width
        self._ground = ground
        self._pieces: dict[int, tuple[int, str, Style]] = {}

    def put(self, span: Span, text: str, style: Style | None = None) -> None:
        """Clean text into a span, cut or padded to it."""
        width = min(span.width, self._width - span.start)
        if width > 0:
            self._pieces[span.start] = (width, set_cell_size(text, width), style or self._ground)

    def strip(self) -> Strip:
        """The line, exactly `width` cells wide, in as few pieces as look the same: each costs bytes on the wire."""
        pieces: list[tuple[str, Style]] = []
        at = 0
        for start, (width, text, style) in sorted(self._pieces.items()):
            if start > at:
                _add(pieces, " " * (start - at), self._ground)
            _add(pieces, text, style)
            at = start + width
        if at < self._width:
            _add(pieces, " " * (self._width - at), self._ground)
        return Strip([Segment(text, style) for text, style in pieces], self._width)


def _add(pieces: list[tuple[str, Style]], text: str, style: Style) -> None:
    """Append a piece, joined to the one before where nobody could see the difference."""
    if pieces:
        before, look = pieces[-1]
        blank = not text.strip(" ") and look.bgcolor == style.bgcolor and not (look.underline or look.reverse)
        if look == style or (blank and not style.underline):
            pieces[-1] = (before + text, look)
            return
    pieces.append((text, style))
