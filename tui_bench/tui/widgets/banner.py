"""The verdict in words, first on every layout, never hidden. Its word carries the meaning; colour only repeats it."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import safe

TONES: tuple[tuple[str, str], ...] = (
    ("GATE OPEN", "open"),
    ("GATE SHUT", "shut"),
    ("GATE ...", "pending"),
    ("NO WINNER YET", "pending"),
    ("NO WINNER", "withheld"),
    ("WINNER", "open"),
    ("AGENT NOT WORKING", "shut"),
    ("FLAKY TEST", "shut"),
    ("STOPPED", "shut"),
    ("NO EVIDENCE", "withheld"),
    ("NO VERDICT", "withheld"),
    ("UNINFORMATIVE", "withheld"),
    ("CONFOUNDED", "withheld"),
)
"""Beginning of a sentence -> class that colours it."""


class Banner(Static):
    """Lines of `analysis.banner`, as many as the layout allows; a cut one ends in an ellipsis."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._lines: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines, clean."""
        return self._lines

    def show(self, lines: list[str]) -> None:
        """Replace the text; nothing is drawn anew when it is the same."""
        cleaned = tuple(safe.text(line) for line in lines)
        if cleaned == self._lines:
            return
        self._lines = cleaned
        self.update(Content("\n").join(self._styled(line) for line in cleaned))

    def _styled(self, line: str) -> Content:
        for word, tone in TONES:
            at = line.find(word)
            if at >= 0 and (at == 0 or line[at - 1] == " "):
                end = at + len(word)
                return Content.assemble(line[:at], (line[at:end], f"bold ${_VARIABLE[tone]}"), line[end:])
        return Content(line)


_VARIABLE = {"open": "bench-pass", "shut": "bench-fail", "pending": "bench-running", "withheld": "bench-void"}
