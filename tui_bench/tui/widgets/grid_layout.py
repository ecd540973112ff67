"""Where the grid's columns lie: widths in cells for a given terminal width. Pure arithmetic.

From left to right: cursor, task, a group of environments for each agent, marks (flip per agent, agents unequal), why.
The task column and the marks always stand; environments that do not fit are reached by moving the cursor; `why` takes
what is left and is dropped where less than `WHY_LEAST` is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from tui_bench.tui.board import Column

GUTTER = 2
GAP = 2
TASK_LEAST, TASK_READABLE, TASK_MOST = 8, 20, 40
ENV_LEAST, ENV_MOST = 3, 16
ENV_READABLE = 10
"""Width of environment names where not all columns fit anyway."""
ATTEMPTS_MOST = 8
"""Attempts drawn in a cell; more end in an ellipsis."""
WHY_LEAST = 20
FLIP_TITLE = "flip"


@dataclass(frozen=True, slots=True)
class Span:
    """Cells `start` to `start + width` of a line."""

    start: int
    width: int


@dataclass(frozen=True, slots=True)
class GridLayout:
    """`cells` holds the columns that fit, by index into the board's columns; `rules` are cells of vertical lines."""

    task: Span
    cells: tuple[tuple[int, Span], ...]
    rules: tuple[int, ...]
    flip: Span
    unequal: Span | None
    why: Span | None
    width: int

    @property
    def shown(self) -> range:
        """Indices of the columns that fit."""
        return range(self.cells[0][0], self.cells[-1][0] + 1) if self.cells else range(0)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the columns would like, before the width is known."""

    task: int
    cell: int
    names: tuple[int, ...]
    flip: int
    unequal: int


def layout(
    width: int, longest: int, columns: Sequence[Column], attempts: int, first: int, mark_width: int
) -> GridLayout:
    """The layout for `width` cells, with column `first` leftmost. `longest`: cells of the longest task id."""
    agents = list(dict.fromkeys(column.agent for column in columns))
    wanted = _wanted(longest, columns, attempts, agents, mark_width)
    fixed = GUTTER + 1 + GAP + wanted.flip + GAP + (wanted.unequal + GAP if wanted.unequal else 0)
    env_cap = _env_cap(width - fixed, wanted, len(agents))
    widths = [max(wanted.cell, min(name, env_cap)) for name in wanted.names]
    cells_width = sum(widths) + GAP * len(widths) + len(agents)
    room = width - fixed - cells_width
    why_room = WHY_LEAST + GAP if room - WHY_LEAST - GAP >= min(wanted.task, TASK_READABLE) else 0
    task = max(TASK_LEAST, min(wanted.task, TASK_MOST, room - why_room))
    cells, rules, at = _place_cells(columns, widths, first, GUTTER + task + 1, width - (fixed - GUTTER - 1))
    flip = Span(at + GAP, wanted.flip)
    at = flip.start + flip.width
    unequal = Span(at + GAP, wanted.unequal) if wanted.unequal else None
    at = unequal.start + unequal.width if unequal else at
    left = width - at - GAP - 1
    why = Span(at + GAP, left) if left >= WHY_LEAST else None
    return GridLayout(Span(GUTTER, task), cells, rules, flip, unequal, why, width)


def _wanted(longest: int, columns: Sequence[Column], attempts: int, agents: list[str], mark_width: int) -> _Wanted:
    marks = len(agents) * (mark_width + 1) - 1
    return _Wanted(
        task=max(longest, 4),
        cell=max(ENV_LEAST, min(attempts, ATTEMPTS_MOST)),
        names=tuple(cell_len(column.env) for column in columns),
        flip=max(len(FLIP_TITLE), marks),
        unequal=2 if len(agents) > 1 else 0,
    )


def _env_cap(room: int, wanted: _Wanted, groups: int) -> int:
    """The widest environment names with which all columns fit beside a readable task, or a narrow one if need be."""
    for cap, task in [
        *((cap, min(wanted.task, TASK_READABLE)) for cap in range(ENV_MOST, ENV_LEAST, -1)),
        (ENV_LEAST, TASK_LEAST),
    ]:
        widths = sum(max(wanted.cell, min(name, cap)) for name in wanted.names)
        if widths + GAP * len(wanted.names) + groups + task <= room:
            return cap
    return ENV_READABLE


def _place_cells(
    columns: Sequence[Column], widths: list[int], first: int, at: int, limit: int
) -> tuple[tuple[tuple[int, Span], ...], tuple[int, ...], int]:
    """Columns from `first` on as far as they fit, the rules between agents, and the cell after the last."""
    cells: list[tuple[int, Span]] = []
    rules: list[int] = []
    previous: str | None = None
    for index in range(first, len(columns)):
        new_group = columns[index].agent != previous
        start = at + GAP + (1 if new_group else 0)
        if start + widths[index] > limit and cells:
            break
        if new_group:
            rules.append(at + 1)
        cells.append((index, Span(start, widths[index])))
        previous = columns[index].agent
        at = start + widths[index]
    rules.append(at + 1)
    return tuple(cells), tuple(rules), at + 1
