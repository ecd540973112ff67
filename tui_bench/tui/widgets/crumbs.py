"""The top line of a screen that lies over the run: where one is, and on the right how the run is."""

from __future__ import annotations

from textual.content import Content

from tui_bench.tui import safe
from tui_bench.tui.glyphs import UNICODE, Glyphs
from tui_bench.tui.widgets.line import fitted_middle
from tui_bench.tui.widgets.status import StatusLine

LEAST = 20
"""Cells that the name of the place keeps."""


class Crumbs(StatusLine):
    """` Run › t04_tz_shift` and the run's facts."""

    def __init__(self, place: str, id: str | None = None, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id, glyphs=glyphs)
        self._place = safe.text(place)

    def _draw(self) -> None:
        if self._facts is None:
            return
        head = f" Run {self._glyphs.cursor} "
        right = self._right(self._facts, self.size.width - 3 - len(head) - min(len(self._place), LEAST))
        room = self.size.width - right.cell_length - 3 - len(head)
        place = fitted_middle(self._place, room, self._glyphs.ellipsis)
        left = Content.assemble((head, "$bench-muted"), (place, "bold"))
        gap = max(1, self.size.width - left.cell_length - right.cell_length - 1)
        self.update(Content.assemble(left, " " * gap, right))
