"""The verdict in words, first on every layout, never hidden. Its word carries the meaning; colour only repeats it."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import safe

TONES: tuple[tuple[str, str], ...] = (
    ("GATE OPEN", "bench-pass"),
    ("GATE SHUT", "bench-fail"),
    ("GATE ...", "bench-running"),
    ("NO WINNER YET", "bench-running"),
    ("NO WINNER", "bench-void"),
    ("WINNER", "bench-pass"),
    ("AGENT NOT WORKING", "bench-fail"),
    ("FLAKY TEST", "bench-fail"),
    ("STOPPED", "bench-fail"),
    ("NO EVIDENCE", "bench-void"),
    ("NO VERDICT", "bench-void"),
    ("UNINFORMATIVE", "bench-void"),
    ("CONFOUNDED", "bench-void"),
)
"""Word of a verdict -> theme colour that repeats it."""
ROOMY = 82
DETAIL = "  "
"""How a line begins that only explains the one above."""


class Banner(Static):
    """Lines of `analysis.banner`, as many as `allow` says: every verdict's first line before any detail."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._lines: tuple[str, ...] = ()
        self._drawn: tuple[str, ...] = ()
        self._most = 4

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines, clean."""
        return self._lines

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict that each line begins with, and for whom, without its numbers: what a change of is news."""
        return tuple(said for line in self._lines if not line.startswith(DETAIL) for said in [_verdict(line)] if said)

    def show(self, lines: list[str]) -> None:
        """Replace the text; nothing is drawn anew when it is the same."""
        self._lines = tuple(safe.text(line) for line in lines)
        self._draw()

    def allow(self, most: int) -> None:
        """Show at most so many lines."""
        self._most = most
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        fitting = self._indented(chosen(without_twins(self._lines, self.content_size.width), self._most))
        if fitting != self._drawn:
            # Another height moves everything below; the same one draws these lines alone.
            moves = len(fitting) != len(self._drawn)
            self._drawn = fitting
            self.update(Content("\n").join(_toned(line) for line in fitting), layout=moves)

    def _indented(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Sentences are made for 80 cells; on a screen of 80 the frame takes two of them from the indent."""
        if self.content_size.width >= ROOMY:
            return lines
        return tuple(line[1:] if line.startswith(DETAIL) else line for line in lines)


def without_twins(lines: tuple[str, ...], width: int) -> tuple[str, ...]:
    """A cut line whose whole text follows as a detail is said once: whole where it fits, else cut."""
    kept: list[str] = []
    for line in lines:
        whole = line.strip()
        before = kept[-1] if kept else ""
        if before.endswith("…") and line.startswith(DETAIL) and whole.startswith(before[:-1].rstrip()):
            if cell_len(whole) <= width:
                kept[-1] = whole
        else:
            kept.append(line)
    return tuple(kept)


def chosen(lines: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most `most` lines in their order: all verdicts first, then as many details as there is room for."""
    heads = [number for number, line in enumerate(lines) if not line.startswith(DETAIL)]
    details = [number for number, line in enumerate(lines) if line.startswith(DETAIL)]
    kept = sorted(heads[:most] + details[: max(0, most - len(heads))])
    return tuple(lines[number] for number in kept)


def _verdict(line: str) -> str:
    """`strong GATE SHUT`; "" for a line without a verdict."""
    for word, _ in TONES:
        at = line.find(word)
        if at == 0 or (at > 0 and line[at - 1] == " "):
            return line[: at + len(word)].strip()
    return ""


def _toned(line: str) -> Content:
    for word, colour in TONES:
        at = line.find(word)
        if at == 0 or (at > 0 and line[at - 1] == " "):
            end = at + len(word)
            return Content.assemble(line[:at], (line[at:end], f"bold ${colour}"), line[end:])
    return Content(line)
