"""The live grid: tasks x (agents x environments) on the line API, drawing only what is on the screen and has changed.

The cursor belongs to a task and a column, not to a row number, so rows that arrive never move it to another task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from tui_bench.tui.arrangement import SORTS, Arrangement
from tui_bench.tui.board import Board, Column
from tui_bench.tui.figures import FIGURE_WIDTH, FIGURES, Figure, figure
from tui_bench.tui.filter import Filter
from tui_bench.tui.glyphs import UNICODE, Glyphs
from tui_bench.tui.widgets.grid_layout import GridLayout, layout
from tui_bench.tui.widgets.grid_paint import Ink, Painter, Row, Tail


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
        """A person wants to see the task of this cell."""

        key: CellKey

    class ViewChanged(Message):
        """Another order, another figure, or other rows."""

    class NothingNotable(Message):
        """There is no row to jump to."""

    def __init__(self, id: str | None = None, *, glyphs: Glyphs = UNICODE, clock: Callable[[], float]) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self.frame: tuple[Content, Content] = (Content(""), Content(""))
        """Title and subtitle as they were set last."""
        self._clock = clock
        self._board: Board | None = None
        self.arrangement = Arrangement()
        self.figure: Figure = "verdict"
        """What cells show."""
        self._painter = Painter(glyphs, self._style)
        self._all: list[str] = []
        self._tasks: list[str] = []
        self._names: dict[str, str] = {}
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
        self._unsettled = False
        self._kept: str | None = None

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
    def declared(self) -> int:
        """Number of the attempt that counts."""
        return self._board.declared if self._board else 0

    @property
    def why_is_whole(self) -> bool:
        """Whether the reason of the chosen row stands in its column without being cut."""
        column, cursor = self._plan.why if self._plan is not None else None, self.cursor
        return column is not None and cursor is not None and cell_len(self.why(cursor[0])) <= column.width

    @property
    def shown(self) -> int:
        """Rows that the filter lets pass."""
        return len(self._tasks)

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
        return (self._all, self._columns, self._attempts) == (board.tasks, board.columns, board.attempts)

    def show_board(self, board: Board) -> None:
        """Take the shape of another board; the cursor stays on its task and column where they exist."""
        kept = self.cursor
        self._board = board
        self._all = board.tasks
        self._columns = board.columns
        self._attempts = board.attempts
        self.arrangement.take(board)
        wanted = Column(kept[2], kept[1]) if kept else None
        self._column = self._columns.index(wanted) if wanted in self._columns else 0
        self._show_tasks(kept[0] if kept else None)

    def settle(self) -> None:
        """Filter and sort anew after rows have arrived; the cursor stays on its task and on its line."""
        if self._unsettled and self._board is not None and not self.arrangement.plain:
            self._arrange()

    def narrow(self, wanted: Filter) -> None:
        """Show only rows that fit this filter."""
        self.arrangement.narrow(wanted)
        self._arrange()

    def _arrange(self) -> None:
        if self._board is None:
            return
        self._kept = self.cursor[0] if self.cursor else self._kept
        self._unsettled = False
        if self.arrangement.tasks(self._board) != self._tasks:
            self._show_tasks(self._kept)
            self.post_message(self.ViewChanged())

    def _show_tasks(self, kept: str | None) -> None:
        """Take rows; the cursor stays on `kept`, on its line of the screen, or else where it was."""
        assert self._board is not None
        line = self._row - self.scroll_offset.y
        self._take_tasks(self.arrangement.tasks(self._board))
        self._unsettled = False
        place = self._index.get(kept, -1) if kept is not None else 0
        moved = place >= 0 and place != self._row
        self._row = place if place >= 0 else min(self._row, max(0, len(self._tasks) - 1))
        self._lay_out()
        if moved:
            self.scroll_to(y=max(0, self._row - line), animate=False)

    def _take_tasks(self, tasks: list[str]) -> None:
        """Tasks mostly grow at the end, thousands of times while a large ledger is read: only new ones cost."""
        known = len(self._tasks)
        if tasks[:known] != self._tasks:
            self._index, self._longest, known = {}, 0, 0
        for number, task in enumerate(tasks[known:], known):
            name = self._names.get(task)
            if name is None:
                name = self._names[task] = safe.text(task)
            self._index[task] = number
            self._longest = max(self._longest, cell_len(name))
        self._tasks = tasks

    def apply(self, cells: Iterable[CellKey]) -> None:
        """Redraw those of these cells that are on the screen, and the marks of their rows where they differ now."""
        cells = list(cells)
        self.arrangement.touch({task for task, _, _ in cells})
        self._unsettled = True
        plan = self._plan
        if plan is None:
            return
        spans = {self._columns[index]: span for index, span in plan.cells}
        ends: dict[int, int] = {}
        on_screen = self._on_screen()
        for task, env, agent in cells:
            row = self._index.get(task, -1)
            if row in on_screen:
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
        on_screen = self._on_screen()
        rows = {self._index.get(one.key[0], -1) for one in self._board.running}
        self._refresh_up_to({row: plan.width for row in rows if row in on_screen and self._tail_has_changed(row)})

    def _refresh_up_to(self, ends: dict[int, int]) -> None:
        """Redraw rows up to a cell each. One region a row: whatever lies left of a region's end is sent with it."""
        regions = [Region(0, self._line_of(row), end, 1) for row, end in ends.items() if end]
        if regions:
            self.refresh(*regions)

    def _on_screen(self) -> range:
        """Rows that can be seen; worked out once for all changed cells, which may be thousands."""
        low, high = self.visible_rows
        return range(low - 1, high) if high else range(0)

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
        attempts = self._attempts if self.figure == "verdict" else FIGURE_WIDTH
        return layout(width, self._longest, self._columns, attempts, self._first, self._glyphs.mark_width)

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
            return self._painter.header(y, self.header_height, plan, self._columns)
        row = self.scroll_offset.y + y - self.header_height
        if not 0 <= row < len(self._tasks):
            return Strip.blank(self.size.width, self.rich_style)
        return self._task_line(row, plan)

    def _style(self, name: str, cursor: str) -> Style:
        """Style of a component, on the cursor's ground where it stands under the cursor."""
        key = f"{name}/{cursor}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"grid--{name}")
            if cursor:
                ground = self.get_component_rich_style(f"grid--{cursor}")
                style += Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
            self._styles[key] = style
        return self._styles[key]

    def _task_line(self, row: int, plan: GridLayout) -> Strip:
        task = self._tasks[row]
        chosen = row == self._row
        self._tails[row] = self._tail(task)
        under = self._column if chosen and self.has_focus else None
        cells = {index: self._inks(task, self._columns[index]) for index, _ in plan.cells}
        return self._painter.row(Row(self._names[task], cells, self._tails[row], chosen, under), plan)

    def _inks(self, task: str, column: Column) -> Sequence[Ink]:
        """What a cell shows: its attempts, or one figure where that is chosen and known."""
        assert self._board is not None
        if self.figure != "verdict":
            shown = figure(self._board.cell(task, column), self.figure, self._board.declared)
            if shown is not None:
                return ((shown.text, shown.look),)
        return [self._painter.ink(sign) for sign in self._board.signs(task, column)]

    def action_move(self, columns: int, rows: int) -> None:
        self._go(self._row + rows, self._column + columns)

    def action_edge(self, direction: int) -> None:
        self._go(0 if direction < 0 else len(self._tasks) - 1, self._column)

    def action_page(self, direction: int) -> None:
        page = max(1, self._room.height - self.header_height - 1)
        self._go(self._row + direction * page, self._column)

    def action_sort(self) -> None:
        """The next order of rows."""
        self.arrangement.sort = SORTS[(SORTS.index(self.arrangement.sort) + 1) % len(SORTS)]
        self._arrange()
        self.post_message(self.ViewChanged())

    def action_figure(self) -> None:
        """Cells show the next figure."""
        self.figure = FIGURES[(FIGURES.index(self.figure) + 1) % len(FIGURES)]
        self._lay_out()
        self.post_message(self.ViewChanged())

    def action_notable(self, direction: int) -> None:
        """To the next row that flips, is void, flaky, or where agents differ; from the last on to the first."""
        count = len(self._tasks)
        for step in range(1, count + 1):
            row = (self._row + direction * step) % count
            if self._board is not None and self.arrangement.weights(self._board, self._tasks[row]).notable:
                self._go(row, self._column)
                return
        self.post_message(self.NothingNotable())

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
