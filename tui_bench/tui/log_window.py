"""The rows of a log that fit on the screen: which lines they come from, cleaned, cut or wrapped.

Pure but for reading the file, so it runs in a thread and is tested without a screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from textual.content import Content

from tui_bench.cleaning import LINE_LIMIT
from tui_bench.tui import safe
from tui_bench.tui.log_file import Lines, LogLine

ESCAPE = b"\x1b"
FOUND = "reverse"
_DIFF_STYLES = {b"+": "$bench-pass", b"-": "$bench-fail", b"@": "$bench-running"}
_HEADS = (b"diff --git ", b"+++ ", b"--- ")


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a log: byte offset of its line, and which row of that line it is when wrapped."""

    offset: int
    row: int = 0


START = Place(0)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the widget offers: cells, whether lines wrap, and how far it is scrolled sideways when they do not.

    `find` is marked wherever it stands; with `diff` added and removed lines get their colours.
    """

    width: int
    height: int
    wrap: bool
    left: int = 0
    find: re.Pattern[str] | None = None
    diff: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The rows to draw. `top` is the place of the first one; `at_end` when the last row is the file's last."""

    rows: tuple[Content, ...]
    top: Place
    at_end: bool


EMPTY = Window((), START, True)


@dataclass(frozen=True, slots=True)
class _Row:
    place: Place
    content: Content


def window(log: Lines, place: Place | None, shift: int, shape: Shape) -> Window:
    """The window that starts `shift` rows after `place`; `place` None is the end of the file.

    A window never starts so far down that it would leave rows empty that the file could fill.
    """
    status = log.status()
    if status is None or status.size == 0 or shape.height < 1 or shape.width < 1:
        return EMPTY
    if place is None:
        if shift >= 0:
            return _last(log, status.size, shape)
        place = _last(log, status.size, shape).top
    if place.offset > status.size:
        place = START
    top = _shifted(log, place, shift, shape)
    rows = _rows(log.after(top.offset, shape.height + 1), shape, top.row + shape.height + 1)[top.row :]
    if len(rows) <= shape.height:
        return _last(log, status.size, shape)
    shown = rows[: shape.height]
    return Window(tuple(row.content for row in shown), top, False)


def _last(log: Lines, size: int, shape: Shape) -> Window:
    """The last rows of the file."""
    rows: list[_Row] = []
    for line in reversed(log.before(size, shape.height)):
        rows[:0] = _rows([line], shape)
        if len(rows) >= shape.height:
            break
    shown = rows[-shape.height :]
    top = shown[0].place if shown else START
    return Window(tuple(row.content for row in shown), top, True)


def _shifted(log: Lines, place: Place, shift: int, shape: Shape) -> Place:
    """The place `shift` rows further; clamped to the first and the last row."""
    if shift < 0:
        above = _rows(log.before(place.offset, -shift), shape) if place.offset else []
        own = [Place(place.offset, row) for row in range(place.row + 1)]
        places = [row.place for row in above] + own
        return places[max(0, len(places) - 1 + shift)]
    if shift == 0:
        return place
    below = _rows(log.after(place.offset, shift + place.row + 1), shape, place.row + shift + 1)
    return below[min(place.row + shift, len(below) - 1)].place if below else place


def _rows(lines: list[LogLine], shape: Shape, enough: int | None = None) -> list[_Row]:
    """Lines as rows; stops after `enough` of them."""
    rows: list[_Row] = []
    for line in lines:
        if shape.wrap:
            folded = _folded(_dressed(safe.line(line.raw), line.raw, shape), shape.width)
            rows.extend(_Row(Place(line.start, number), content) for number, content in enumerate(folded))
        else:
            rows.append(_Row(Place(line.start), _cut(line.raw, shape)))
        if enough is not None and len(rows) >= enough:
            break
    return rows


def _dressed(content: Content, raw: bytes, shape: Shape) -> Content:
    """A clean line with the marks that the shape asks for."""
    if shape.diff:
        style = "bold" if raw.startswith(_HEADS) else _DIFF_STYLES.get(raw[:1])
        content = content.stylize_before(style) if style is not None else content
    return content if shape.find is None else content.highlight_regex(shape.find, style=FOUND)


def _folded(content: Content, width: int) -> list[Content]:
    """Content in pieces of at most `width` cells. (`Content.fold` loses text after combining marks.)"""
    if content.cell_length <= width:
        return [content]
    ends: list[int] = []
    for piece in chop_cells(content.plain, width):
        ends.append((ends[-1] if ends else 0) + len(piece))
    return content.divide(ends[:-1])


def _cut(raw: bytes, shape: Shape) -> Content:
    """The visible part of a line; what lies to the right of the screen is not even cleaned."""
    visible = shape.left + shape.width + 1
    content = _dressed(safe.line(raw, LINE_LIMIT if ESCAPE in raw else min(visible, LINE_LIMIT)), raw, shape)
    if shape.left:
        content = content[_index(content.plain, shape.left) :]
    return content.truncate(shape.width, ellipsis=True) if content.cell_length > shape.width else content


def _index(plain: str, cells: int) -> int:
    """Index of the first character at or after column `cells`."""
    column = 0
    for index, character in enumerate(plain):
        if column >= cells:
            return index
        column += cell_len(character)
    return len(plain)
