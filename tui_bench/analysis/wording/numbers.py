"""How numbers and names stand in a sentence: counts, rates, p-values, widths in terminal cells."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

FIRST_LINE = 80
"""Cells that a banner's first line must fit in."""
ELLIPSIS = "…"
_WIDE = frozenset("WF")
_NO_WIDTH = frozenset({"Mn", "Me", "Cf"})


def counted(count: int, noun: str) -> str:
    """`1 flip`, `2 flips`; nouns take a plain s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def rate_text(rate: Fraction | float) -> str:
    """A rate with three decimals, as published."""
    return f"{float(rate):.3f}"


def limit_text(limit: Fraction) -> str:
    """The gate's rate: two decimals, more where two would not be the rate itself."""
    for decimals in (2, 3, 4):
        text = f"{float(limit):.{decimals}f}"
        if Fraction(text) == limit:
            return text
    return f"{float(limit):.4f}"


def percent(value: Fraction | float) -> str:
    """`22.1 %`."""
    return f"{float(value) * 100:.1f} %"


def short_percent(value: Fraction | float) -> str:
    """`10 %`; a decimal only where the percentage is no whole number."""
    text = f"{float(value) * 100:.1f}"
    return f"{text.removesuffix('.0')} %"


def two_digits(p: float) -> str:
    """A probability with two significant digits; `< 0.0001` and `> 0.99` where those would mislead."""
    if p < 0.0001:
        return "< 0.0001"
    if 0.995 <= p < 1:
        return "> 0.99"
    decimals = min(4, max(2, 1 - math.floor(math.log10(p))))
    return f"{p:.{decimals}f}"


def p_text(p: float, name: str = "p") -> str:
    """`p = 0.56`, `p < 0.0001`."""
    text = two_digits(p)
    return f"{name} {text}" if text[0] in "<>" else f"{name} = {text}"


def cells(text: str) -> int:
    """Terminal cells of a text: East Asian wide characters count 2, combining marks and format characters 0."""
    if text.isascii():
        return len(text)
    return sum(_char_cells(char) for char in text)


def fit(text: str, room: int) -> str:
    """The text, cut with an ellipsis where it needs more than `room` cells, never between a letter and its marks."""
    if cells(text) <= room:
        return text
    kept, used = 0, 0
    for index, char in enumerate(text):
        used += _char_cells(char)
        if used > room - 1:
            break
        kept = index + 1
    while kept and _char_cells(text[kept]) == 0:
        kept -= 1
    return text[:kept] + ELLIPSIS


def names_text(names: Sequence[str], room: int) -> str:
    """`t04, t09` within `room` cells; what does not fit is counted: `t04, +3 more`."""
    whole = ", ".join(names)
    if cells(whole) <= room or not names:
        return whole
    for shown in range(len(names) - 1, 0, -1):
        text = f"{', '.join(names[:shown])}, +{len(names) - shown} more"
        if cells(text) <= room:
            return text
    rest = f", +{len(names) - 1} more" if len(names) > 1 else ""
    return fit(names[0], max(1, room - len(rest))) + rest


def wrapped(head: str, names: Sequence[str], room: int, most: int) -> list[str]:
    """`head` and the names in lines of at most `room` cells, under one another; beyond `most` they are counted."""
    rest = [f"+{len(names) - most} more"] if len(names) > most else []
    width = room - cells(head)
    words = [*names[:most], *rest]
    # Each name but the last takes its comma along.
    pieces = [f"{fit(word, width - 1)}," for word in words[:-1]] + [fit(word, width) for word in words[-1:]]
    lines: list[str] = []
    for piece in pieces:
        if lines and cells(lines[-1]) + 1 + cells(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return [(head if index == 0 else " " * cells(head)) + line for index, line in enumerate(lines)]


def pad(text: str, width: int) -> str:
    """The text with spaces up to `width` cells."""
    return text + " " * (width - cells(text))


def _char_cells(char: str) -> int:
    if unicodedata.category(char) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1
