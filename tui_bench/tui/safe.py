"""The only door through which text from outside becomes text on the screen.

`line` keeps colours and gives `Content`; `text` gives a plain string for places that draw by themselves. Neither is
ever read as markup.
"""

from __future__ import annotations

from functools import lru_cache

from textual.color import Color
from textual.content import Content
from textual.style import Style

from tui_bench.cleaning import LINE_LIMIT, Colour, Look, clean, stretches

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def text(raw: bytes | str, limit: int = LINE_LIMIT) -> str:
    """One line of plain text without control characters."""
    return clean(raw, limit)


def line(raw: bytes | str, limit: int = LINE_LIMIT) -> Content:
    """One line with the colours its author gave it, and nothing else of what its author sent."""
    return Content.assemble(*((part.text, style_of(part.look)) for part in stretches(raw, limit)))


@lru_cache(maxsize=1024)
def style_of(look: Look) -> Style:
    """A look in Textual's terms. Attributes that are off are left to the widget's own style."""
    return Style(
        foreground=_colour(look.foreground),
        background=_colour(look.background),
        bold=look.bold or None,
        dim=look.dim or None,
        italic=look.italic or None,
        underline=look.underline or None,
        strike=look.strike or None,
        reverse=look.reverse or None,
    )


def _colour(colour: Colour) -> Color | None:
    if colour is None:
        return None
    if isinstance(colour, int):
        return Color.parse(f"ansi_{'bright_' if colour > 7 else ''}{_NAMES[colour % 8]}")
    return Color(*colour)
