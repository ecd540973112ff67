"""One line of the grid from what it says: header, task, cells, marks, reason. Knows styles and signs, and no run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tui_bench.tui import safe
from tui_bench.tui.board import Column, Sign
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.grid_layout import FLIP_TITLE, GUTTER, GridLayout, Span
from tui_bench.tui.widgets.line import LineBuilder, fitted, fitted_middle

Tail = tuple[tuple[bool, ...], bool, str]
"""End of a row: whether each agent flips, whether the agents differ, and the reason."""
Ink = tuple[str, str]
"""Text of one attempt or figure, and the name of its style."""

_STYLE_OF: dict[Sign, str] = {
    "passed": "pass", "failed": "fail", "void": "void", "running": "running", "queued": "queued",
    "absent": "queued", "flaky_passed": "pass", "flaky_failed": "fail",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows. `cells`: by index into the board's columns. `under` is the column under the cursor."""

    name: str
    cells: Mapping[int, Sequence[Ink]]
    tail: Tail
    chosen: bool
    under: int | None


class Painter:
    """`style(name, ground)` gives a component's style, on the cursor's ground where one is named."""

    def __init__(self, glyphs: Glyphs, style: Callable[[str, str], Style]) -> None:
        self._glyphs = glyphs
        self._style = style

    def ink(self, sign: Sign) -> Ink:
        """One attempt as its sign."""
        glyphs = self._glyphs
        drawn = {"passed": glyphs.passed, "failed": glyphs.failed, "void": glyphs.void, "running": glyphs.running,
                 "queued": glyphs.queued, "absent": glyphs.absent}.get(sign, glyphs.flaky)  # fmt: skip
        return drawn, _STYLE_OF[sign]

    def header(self, y: int, height: int, plan: GridLayout, columns: Sequence[Column]) -> Strip:
        """Line `y` of a header of `height` lines."""
        line = LineBuilder(plan.width, self._style("header", ""))
        hidden = len(columns) - len(plan.cells)
        if y == 0 and hidden:
            line.put(plan.task, self._fitted(f"+{hidden} columns", plan.task))
        if y == height - 1:
            if y or not hidden:
                line.put(plan.task, "task")
            for index, span in plan.cells:
                name = safe.text(columns[index].env)
                line.put(span, fitted_middle(name, span.width, self._glyphs.ellipsis))
            line.put(plan.flip, FLIP_TITLE)
            if plan.why:
                line.put(plan.why, "why")
        else:
            for agent, span in _agent_spans(plan, columns):
                line.put(span, self._fitted(agent, span))
        self._put_rules(line, plan, self._style("header", ""))
        return line.strip()

    def row(self, shown: Row, plan: GridLayout) -> Strip:
        """The line of one task."""
        ground = "cursor" if shown.chosen else ""
        line = LineBuilder(plan.width, self._style("task", ground))
        if shown.chosen:
            line.put(Span(0, GUTTER), self._glyphs.cursor, self._style("mark", ground))
        line.put(plan.task, fitted(shown.name, plan.task.width, self._glyphs.ellipsis))
        for index, span in plan.cells:
            here = "cursor-cell" if index == shown.under else ground
            self._put_cell(line, span, shown.cells[index], here)
        self._put_rules(line, plan, self._style("rule", ground))
        self._put_tail(line, shown.tail, plan, ground)
        return line.strip()

    def _fitted(self, foreign: str, span: Span) -> str:
        return fitted(safe.text(foreign), span.width, self._glyphs.ellipsis)

    def _put_rules(self, line: LineBuilder, plan: GridLayout, style: Style) -> None:
        for cell in plan.rules:
            line.put(Span(cell, 1), self._glyphs.rule, style)

    def _put_cell(self, line: LineBuilder, span: Span, inks: Sequence[Ink], ground: str) -> None:
        """Attempts side by side; those that do not fit end in an ellipsis. A figure is one piece."""
        at, end = span.start, span.start + span.width
        for place, (text, style) in enumerate(inks):
            last = place == len(inks) - 1
            if at + len(text) > end - (0 if last else 1):
                line.put(Span(at, end - at), self._glyphs.ellipsis, self._style("queued", ground))
                return
            line.put(Span(at, len(text)), text, self._style(style, ground))
            at += len(text)
        if at < end:
            line.put(Span(at, end - at), "", self._style("queued", ground))

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


def _agent_spans(plan: GridLayout, columns: Sequence[Column]) -> list[tuple[str, Span]]:
    spans: dict[str, Span] = {}
    for index, span in plan.cells:
        agent = columns[index].agent
        start = spans[agent].start if agent in spans else span.start
        spans[agent] = Span(start, span.start + span.width - start)
    return list(spans.items())
