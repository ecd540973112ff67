"""The live grid: tasks x (agents x environments) on the line API, drawing only what is on the screen and has changed.

The cursor belongs to a task and a column, not to a row number, so rows that arrive never move it to another task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_bench.analysis.state import CellKey
from tui_bench.tui import keys, safe
from tui_bench.tui.board import Board, Column, Sign
from tui_bench.tui.glyphs import UNICODE, Glyphs
from tui_bench.tui.widgets.grid_layout import FLIP_TITLE, GUTTER, GridLayout, Span, layout
from tui_bench.tui.widgets.line import LineBuilder, fitted, fitted_middle

_STYLE_OF: dict[Sign, str] = {
    "passed": "pass", "failed": "fail", "void": "void", "running": "running", "queued": "queued",
    "absent": "queued", "flaky_passed": "pass", "flaky_failed": "fail",
}  # fmt: skip

Tail = tuple[tuple[bool, ...], bool, str]
"""End of a row: whether each agent flips, whether the agents differ, and the reason."""


class Grid(ScrollView, can_focus=True):
    """A `Board` on the screen. Assign `board`, then tell it of changes with `apply`."""

    ALLOW_SELECT = False
    BINDINGS = keys.bindings("pane", "grid")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "grid--header", "grid--task", "grid--rule", "grid--pass", "grid--fail", "grid--void", "grid--running",
        "grid--queued", "grid--mark", "grid--why", "grid--cursor", "grid--cursor-cell",
    }  # fmt: skip

    @dataclass
    class CursorMoved(Message):
        """A person has chosen another cell; `key` is (task, environment, agent)."""

        key: CellKey

    @dataclass
    class CellOpened(Message):
        """A person wants to read the log of this cell."""

        key: CellKey

    def __init__(self, id: str | None = None, *, glyphs: Glyphs = UNICODE, clock: Callable[[], float]) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self.frame: tuple[Content, Content] = (Content(""), Content(""))
        """Title and subtitle as they were set last."""
        self._clock = clock
        self._board: Board | None = None
        self._tasks: list[str] = []
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._longest = 0
        self._columns: tuple[Column, ...] = ()
        self._attempts = 1
        self._row = 0
        self._column = 0
        self._first = 0
        self._planned: GridLayout | None = None
        self._styles: dict[str, Style] = {}
        self._tails: dict[int, Tail] = {}

    @property
    def header_height(self) -> int:
        """Lines above the first row: agents over environments where there are agents."""
        return 2 if any(column.agent for column in self._columns) else 1

    @property
    def cursor(self) -> CellKey | None:
        """The chosen cell; None while there is none."""
        if not self._tasks or not self._columns:
            return None
        column = self._columns[self._column]
        return self._tasks[self._row], column.env, column.agent

    @property
    def has_why(self) -> bool:
        """Whether the `why` column fits."""
        return self._plan is not None and self._plan.why is not None

    @property
    def visible_rows(self) -> tuple[int, int]:
        """1-based numbers of the first and last row on the screen; (0, 0) when there are none."""
        first = self.scroll_offset.y
        last = min(len(self._tasks), first + max(0, self._room.height - self.header_height))
        return (first + 1, last) if last else (0, 0)

    def why(self, task: str) -> str:
        """The reason of a row, clean."""
        return safe.text(self._board.why(task, self._clock())) if self._board else ""

    def has_shape_of(self, board: Board) -> bool:
        """Whether rows and columns are the ones shown."""
        return (self._tasks, self._columns, self._attempts) == (board.tasks, board.columns, board.attempts)

    def show_board(self, board: Board) -> None:
        """Take the shape of another board; the cursor stays on its task and column where they exist."""
        kept = self.cursor
        self._board = board
        self._take_tasks(board.tasks)
        self._columns = board.columns
        self._attempts = board.attempts
        self._row = self._index.get(kept[0], 0) if kept else 0
        wanted = Column(kept[2], kept[1]) if kept else None
        self._column = self._columns.index(wanted) if wanted in self._columns else 0
        self._lay_out()

    def _take_tasks(self, tasks: list[str]) -> None:
        """Tasks mostly grow at the end, thousands of times while a large ledger is read: only new ones cost."""
        known = len(self._tasks)
        if tasks[:known] != self._tasks:
            self._names, self._index, self._longest, known = [], {}, 0, 0
        for number, task in enumerate(tasks[known:], known):
            name = safe.text(task)
            self._names.append(name)
            self._index[task] = number
            self._longest = max(self._longest, cell_len(name))
        self._tasks = tasks

    def apply(self, cells: Iterable[CellKey]) -> None:
        """Redraw those of these cells that are on the screen, and the marks of their rows where they differ now."""
        plan = self._plan
        if plan is None:
            return
        spans = {self._columns[index]: span for index, span in plan.cells}
        ends: dict[int, int] = {}
        for task, env, agent in cells:
            row = self._row_on_screen(task)
            if row is not None:
                span = spans.get(Column(agent, env))
                ends[row] = max(ends.get(row, 0), span.start + span.width if span else 0)
        for row in ends:
            if self._tail_has_changed(row):
                ends[row] = plan.width
        self._refresh_up_to(ends)

    def tick(self) -> None:
        """Redraw the reasons in which a time runs."""
        plan = self._plan
        if plan is None or plan.why is None or self._board is None:
            return
        rows = {self._row_on_screen(one.key[0]) for one in self._board.running}
        self._refresh_up_to({row: plan.width for row in rows if row is not None and self._tail_has_changed(row)})

    def _refresh_up_to(self, ends: dict[int, int]) -> None:
        """Redraw rows up to a cell each. One region a row: whatever lies left of a region's end is sent with it."""
        regions = [Region(0, self._line_of(row), end, 1) for row, end in ends.items() if end]
        if regions:
            self.refresh(*regions)

    def _row_on_screen(self, task: str) -> int | None:
        row = self._index.get(task, -1)
        low, high = self.visible_rows
        return row if low - 1 <= row < high else None

    def _line_of(self, row: int) -> int:
        """Line of the pane on which a row stands."""
        return row - self.scroll_offset.y + self.header_height

    def _tail(self, task: str) -> Tail:
        assert self._board is not None
        return tuple(self._board.flips(task)), self._board.unequal(task), self.why(task)

    def _tail_has_changed(self, row: int) -> bool:
        """Whether marks and reason of a row are not the ones that were drawn."""
        return self._tails.get(row) != self._tail(self._tasks[row])

    @property
    def _room(self) -> Size:
        """Cells for the grid itself, the scrollbar left out."""
        return self.scrollable_content_region.size

    def _lay_out(self) -> None:
        """Everything anew: other rows, other columns, another size."""
        self._planned = None
        self._tails.clear()
        self.virtual_size = Size(0, len(self._tasks) + self.header_height)
        self.refresh()

    @property
    def _plan(self) -> GridLayout | None:
        """Where the columns lie now, with the cursor's among them. A scrollbar that comes or goes makes it stale."""
        width = self._room.width
        if not self._columns or not width:
            return None
        planned = self._planned
        if planned is None or planned.width != width or self._column not in planned.shown:
            planned = self._plan_from(width)
            while self._column not in planned.shown:
                self._first += 1 if self._column >= planned.shown.stop else -1
                planned = self._plan_from(width)
            self._planned = planned
        return planned

    def _plan_from(self, width: int) -> GridLayout:
        return layout(width, self._longest, self._columns, self._attempts, self._first, self._glyphs.mark_width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(2, len(self._tasks) + self.header_height)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles = {}

    def on_focus(self) -> None:
        self._refresh_row(self._row)

    def on_blur(self) -> None:
        self._refresh_row(self._row)

    def _refresh_row(self, row: int) -> None:
        self.refresh_line(row + self.header_height)

    def render_line(self, y: int) -> Strip:
        plan = self._plan
        if plan is None:
            return Strip.blank(self.size.width, self.rich_style)
        if y < self.header_height:
            return self._header(y, plan)
        row = self.scroll_offset.y + y - self.header_height
        if not 0 <= row < len(self._tasks):
            return Strip.blank(self.size.width, self.rich_style)
        return self._task_line(row, plan)

    def _style(self, name: str, cursor: str = "") -> Style:
        """Style of a component, on the cursor's ground where it stands under the cursor."""
        key = f"{name}/{cursor}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"grid--{name}")
            if cursor:
                ground = self.get_component_rich_style(f"grid--{cursor}")
                style += Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
            self._styles[key] = style
        return self._styles[key]

    def _header(self, y: int, plan: GridLayout) -> Strip:
        line = LineBuilder(plan.width, self._style("header"))
        hidden = len(self._columns) - len(plan.cells)
        if y == 0 and hidden:
            line.put(plan.task, self._fitted(f"+{hidden} columns", plan.task))
        if y == self.header_height - 1:
            if y or not hidden:
                line.put(plan.task, "task")
            for index, span in plan.cells:
                name = safe.text(self._columns[index].env)
                line.put(span, fitted_middle(name, span.width, self._glyphs.ellipsis))
            line.put(plan.flip, FLIP_TITLE)
            if plan.why:
                line.put(plan.why, "why")
        else:
            for agent, span in self._agent_spans(plan):
                line.put(span, self._fitted(agent, span))
        self._put_rules(line, plan, self._style("header"))
        return line.strip()

    def _fitted(self, foreign: str, span: Span) -> str:
        return fitted(safe.text(foreign), span.width, self._glyphs.ellipsis)

    def _agent_spans(self, plan: GridLayout) -> list[tuple[str, Span]]:
        spans: dict[str, Span] = {}
        for index, span in plan.cells:
            agent = self._columns[index].agent
            start = spans[agent].start if agent in spans else span.start
            spans[agent] = Span(start, span.start + span.width - start)
        return list(spans.items())

    def _put_rules(self, line: LineBuilder, plan: GridLayout, style: Style) -> None:
        for cell in plan.rules:
            line.put(Span(cell, 1), self._glyphs.rule, style)

    def _task_line(self, row: int, plan: GridLayout) -> Strip:
        assert self._board is not None
        task = self._tasks[row]
        ground = "cursor" if row == self._row else ""
        line = LineBuilder(plan.width, self._style("task", ground))
        if ground:
            line.put(Span(0, GUTTER), self._glyphs.cursor, self._style("mark", ground))
        line.put(plan.task, fitted(self._names[row], plan.task.width, self._glyphs.ellipsis))
        for index, span in plan.cells:
            here = bool(ground) and index == self._column
            self._put_cell(line, span, self._board.signs(task, self._columns[index]), ground, here)
        self._put_rules(line, plan, self._style("rule", ground))
        self._tails[row] = self._tail(task)
        self._put_tail(line, self._tails[row], plan, ground)
        return line.strip()

    def _put_cell(self, line: LineBuilder, span: Span, signs: list[Sign], ground: str, here: bool) -> None:
        ground = "cursor-cell" if here and self.has_focus else ground
        shown = signs if len(signs) <= span.width else signs[: span.width - 1]
        for place, sign in enumerate(shown):
            style = self._style(_STYLE_OF[sign], ground)
            line.put(Span(span.start + place, 1), self._glyph(sign), style)
        rest = Span(span.start + len(shown), span.width - len(shown))
        more = self._glyphs.ellipsis if len(shown) < len(signs) else ""
        line.put(rest, more, self._style("queued", ground))

    def _glyph(self, sign: Sign) -> str:
        glyphs = self._glyphs
        if sign.startswith("flaky"):
            return glyphs.flaky
        return {"passed": glyphs.passed, "failed": glyphs.failed, "void": glyphs.void,
                "running": glyphs.running, "queued": glyphs.queued, "absent": glyphs.absent}[sign]  # fmt: skip

    def _put_tail(self, line: LineBuilder, tail: Tail, plan: GridLayout, ground: str) -> None:
        flips, unequal, why = tail
        glyphs, style = self._glyphs, self._style("mark", ground)
        for place, flipping in enumerate(flips):
            if flipping:
                start = plan.flip.start + place * (glyphs.mark_width + 1)
                line.put(Span(start, glyphs.mark_width), glyphs.flip, style)
        if plan.unequal and unequal:
            line.put(plan.unequal, glyphs.unequal, style)
        if plan.why:
            line.put(plan.why, fitted(why, plan.why.width, glyphs.ellipsis), self._style("why", ground))

    def action_move(self, columns: int, rows: int) -> None:
        self._go(self._row + rows, self._column + columns)

    def action_edge(self, direction: int) -> None:
        self._go(0 if direction < 0 else len(self._tasks) - 1, self._column)

    def action_page(self, direction: int) -> None:
        page = max(1, self._room.height - self.header_height - 1)
        self._go(self._row + direction * page, self._column)

    def action_open(self) -> None:
        if self.cursor is not None:
            self.post_message(self.CellOpened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        plan = self._plan
        if plan is None or place is None or place.y < self.header_height:
            return
        row = self.scroll_offset.y + place.y - self.header_height
        if row < len(self._tasks):
            at = [index for index, span in plan.cells if span.start <= place.x < span.start + span.width]
            self._go(row, at[0] if at else self._column)

    def _go(self, row: int, column: int) -> None:
        """Put the cursor on a row and a column, as near as there are."""
        if not self._tasks or not self._columns:
            return
        row = min(max(row, 0), len(self._tasks) - 1)
        column = min(max(column, 0), len(self._columns) - 1)
        if (row, column) == (self._row, self._column):
            return
        old, self._row, self._column = self._row, row, column
        if self._planned is None or column not in self._planned.shown:
            self.refresh()
        self._refresh_row(old)
        self._refresh_row(row)
        self._scroll_to_cursor()
        assert self.cursor is not None
        self.post_message(self.CursorMoved(self.cursor))

    def _scroll_to_cursor(self) -> None:
        room = max(1, self._room.height - self.header_height)
        top = self.scroll_offset.y
        if self._row < top:
            self.scroll_to(y=self._row, animate=False)
        elif self._row >= top + room:
            self.scroll_to(y=self._row - room + 1, animate=False)
