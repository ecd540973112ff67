"""The words in a pane's frame."""

from __future__ import annotations

from textual.content import Content

from tui_bench.analysis.wording.numbers import fit
from tui_bench.tui import safe
from tui_bench.tui.arrangement import SORT_WORDS
from tui_bench.tui.figures import FIGURE_WORDS
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.log_tail import LogTail
from tui_bench.tui.widgets.side_pane import SidePane

FILTER_MOST = 24
"""Cells of a filter in the frame."""


def set_frame(widget: Grid | LogTail | SidePane, title: Content, subtitle: Content | None) -> None:
    """Words in a pane's frame. Setting them draws the whole pane, so the same ones are not set again."""
    wanted = (title, subtitle or Content(""))
    if not all(map(Content.is_same, wanted, widget.frame)):
        widget.frame = wanted
        widget.border_title = title
        widget.border_subtitle = subtitle


def grid_title(grid: Grid, total: int, glyphs: Glyphs) -> Content:
    """Which rows are on the screen, of how many, in what order, and what cells show where it is not the usual."""
    if not total:
        return Content("Tasks")
    first, last = grid.visible_rows
    order, wanted = grid.arrangement.sort, grid.arrangement.filter
    parts = [Content(f"Tasks {first}-{last} of {grid.shown}")]
    if wanted:
        said = fit(safe.text(str(wanted)), FILTER_MOST)
        parts = [Content(f"Tasks {first}-{last} of {grid.shown}, all {total}")]
        parts.append(Content.assemble((f"filter {said}", "$accent")))
    if order != "ledger":
        parts.append(Content(SORT_WORDS[order]))
    if grid.figure != "verdict":
        number = f" #{grid.declared + 1}" if grid.figure in ("wall", "tokens") else ""
        parts.append(Content(f"{FIGURE_WORDS[grid.figure]}{number}"))
    return Content(f" {glyphs.separator} ").join(parts)
