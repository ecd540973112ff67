"""Which panes are shown where: beside the grid as far as the width allows, the others as tabs below; one alone on zoom.

The same text can stand beside the grid and in a tab; only what is shown is written.
"""

from __future__ import annotations

from typing import Any

from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from tui_bench.analysis.state import RunState
from tui_bench.tui import pane_text
from tui_bench.tui.digest import Digest
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.frame import set_frame
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.log_tail import LogTail
from tui_bench.tui.widgets.side_pane import SidePane, Writer
from tui_bench.tui.widgets.status import Facts

WIDE, BROAD = 120, 150
"""Cells from which void reasons and tally stand beside the grid, and from which the controls do too."""
NAMES = ("log", "voids", "controls", "tally")
TITLES = {"log": "Log", "voids": "Void", "controls": "Controls", "tally": "Tally"}
ZOOMS = ("-zoom-grid", "-zoom-lower")


class Panes:
    """The panes of one screen. The screen tells of sizes and texts; styles do the placing."""

    def __init__(self, screen: Screen[Any], glyphs: Glyphs) -> None:
        self._screen = screen
        self._glyphs = glyphs
        self._tab = "log"
        self._width = 0
        self._found: Digest | None = None
        self._show_tab()

    @property
    def tabs(self) -> tuple[str, ...]:
        """Panes that have no place beside the grid."""
        if self._width >= BROAD:
            return ("log",)
        return ("log", "controls") if self._width >= WIDE else NAMES

    def fit(self, size: Size) -> None:
        """Another size of the terminal."""
        self._width = size.width
        if self._tab not in self.tabs and not self._screen.has_class("-zoom-lower"):
            self._tab = "log"
        self._show_tab()

    def shifted(self, step: int) -> str:
        """The tab so many further."""
        tabs = self.tabs
        place = tabs.index(self._tab) if self._tab in tabs else 0
        return tabs[(place + step) % len(tabs)]

    def open(self, name: str) -> Widget:
        """Show a tab."""
        self._tab = name if name in NAMES else "log"
        self._show_tab()
        return self._lower(self._tab)

    def zoom(self, focused: Widget | None) -> None:
        """The focused pane alone, or all again."""
        if self.unzoom():
            return
        if isinstance(focused, Grid) or focused is None or focused.id is None:
            self._screen.add_class("-zoom-grid")
            return
        self._tab = focused.id.removeprefix("lower-")
        self._screen.add_class("-zoom-lower")
        self._show_tab()
        self._lower(self._tab).focus()

    def unzoom(self) -> bool:
        """All panes again. False where none was alone."""
        zoomed = any(map(self._screen.has_class, ZOOMS))
        self._screen.remove_class(*ZOOMS)
        if self._tab not in self.tabs:
            self._tab = "log"
            self._show_tab()
        return zoomed

    def write(self, state: RunState, facts: Facts, found: Digest) -> None:
        """Give every pane its text; what only rows change is not written anew every second."""
        number = state.rule.declared_attempt
        texts: dict[str, Writer] = {
            "controls": lambda width: pane_text.controls(state, facts, width, self._glyphs),
            "voids": lambda width: pane_text.voids(found, width, self._glyphs),
            "tally": lambda width: pane_text.tally(found, state.attempts, number, width, self._glyphs),
        }
        same, self._found = found is self._found, found
        for name, writer in texts.items():
            if same and name != "controls":
                continue
            self._screen.query_one(f"#lower-{name}", SidePane).write(writer)
            beside = self._with_legend(writer) if name == "controls" else writer
            self._screen.query_one(f"#{name}", SidePane).write(beside)

    def _with_legend(self, writer: Writer) -> Writer:
        """The signs below, where a column as high as the grid has room for them."""
        return lambda width: Content("\n\n").join([writer(width), pane_text.legend(width, self._glyphs)])

    def frame(self, title: Content, hint: Content, causes: int) -> None:
        """Words in the frame of the log, and the tabs in that of whatever is shown below."""
        tabs = self._tab_words(causes)
        log = self._screen.query_one("#log", LogTail)
        gap = "  " if tabs and hint else ""
        set_frame(log, title, Content.assemble(tabs, gap, hint))
        for name in NAMES[1:]:
            pane = self._screen.query_one(f"#lower-{name}", SidePane)
            set_frame(pane, Content(TITLES[name] if name != "voids" else "Void reasons"), tabs)

    def _tab_words(self, causes: int) -> Content:
        """`{ Log · Void 3 · Controls · Tally }`, each to be clicked; nothing where there is only one."""
        if len(self.tabs) < 2 or self._screen.has_class("-zoom-lower"):
            return Content("")
        parts = []
        for name in self.tabs:
            said = TITLES[name] + (f" {causes}" if name == "voids" and causes else "")
            look = Style.from_meta({"@click": f"screen.tab('{name}')"})
            part = Content(said).stylize(look)
            parts.append(part.stylize("bold $accent") if name == self._tab else part)
        return Content.assemble("{ ", Content(f" {self._glyphs.separator} ").join(parts), " }")

    def _lower(self, name: str) -> Widget:
        return self._screen.query_one("#log" if name == "log" else f"#lower-{name}")

    def _show_tab(self) -> None:
        for name in NAMES:
            self._lower(name).display = name == self._tab
