"""The run as it is now: state, verdict, grid, what is held fixed, void reasons, tally, and the log of one attempt.

Everything comes from the ledger through the feed. A person's place is kept: rows that arrive move neither the cursor,
nor the order one has chosen, nor a log one has scrolled, nor a frozen one.
"""

from __future__ import annotations

import asyncio
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from tui_bench.analysis.fold import Changed
from tui_bench.analysis.state import CellKey
from tui_bench.errors import LedgerError
from tui_bench.reading import find_damage
from tui_bench.tui import keys, safe
from tui_bench.tui.board import Board
from tui_bench.tui.digest import Digest, digest
from tui_bench.tui.feed import Step
from tui_bench.tui.filter import EVERYTHING
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.link import RunnerLink
from tui_bench.tui.log_choice import LogEntry
from tui_bench.tui.log_desk import LogDesk
from tui_bench.tui.log_title import log_hint, log_title
from tui_bench.tui.screens.notice import NoticeScreen
from tui_bench.tui.screens.run_control import NEEDS_RUNNER, RunControl
from tui_bench.tui.widgets.banner import Banner
from tui_bench.tui.widgets.filter_bar import FilterBar
from tui_bench.tui.widgets.frame import grid_title, set_frame
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.hints import Hints
from tui_bench.tui.widgets.log_tail import LogSource, LogTail
from tui_bench.tui.widgets.panes import Panes
from tui_bench.tui.widgets.side_pane import SidePane
from tui_bench.tui.widgets.status import Facts, StatusLine, facts

TICK_S = 0.1
CATCH_UP_S = 0.01
BANNER_S = 0.5
"""How often the banner is worked out anew while a large ledger is being read."""
BANNER_REST = 40
"""It rests so many times as long as it took, so that it costs keys and attempts next to nothing ..."""
BANNER_REST_MOST_S = 5.0
"""... but no longer than this, nor shorter than it took itself."""
PAIRS_AT_ONCE = 250
"""Pairs up to which banner and tally are worked out on the loop: some 10 ms of work."""
LEAST_WIDTH, LEAST_HEIGHT = 60, 15
"""Cells below which only the banner is shown."""


class MainScreen(RunControl):
    """The first screen. `link` is None where no runner is known."""

    CSS_PATH: ClassVar[list[str | PurePath]] = ["main.tcss", "filter.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("run", "views")
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  (declared so by the base class)
        (0, "-tiny"), (60, "-small"), (80, "-normal"), (120, "-wide"), (150, "-broad"),
    ]  # fmt: skip

    def __init__(
        self,
        ledger: Path,
        link: RunnerLink | None,
        glyphs: Glyphs,
        ascii_only: bool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(ledger, link)
        self._desk = LogDesk(self._layout_of_run)
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._clock = clock
        self._entry: LogEntry | None = None
        self._facts: Facts | None = None
        self._stale = True
        self._due = 0.0
        self._thinking = False
        self._digest = Digest(())
        self._verdicts: tuple[str, ...] = ()
        self._verified = False
        self._loaded = False

    def compose(self) -> ComposeResult:
        yield StatusLine("status", glyphs=self._glyphs)
        yield Banner("banner")
        yield Static("", id="too-small", markup=False)
        with Vertical(id="body"):
            yield FilterBar("filter")
            with Horizontal(id="top"):
                yield SidePane("controls", title="Controls")
                yield Grid("grid", glyphs=self._glyphs, clock=self._clock)
                with Vertical(id="side"):
                    yield SidePane("voids", title="Void reasons")
                    yield SidePane("tally", title="Tally")
            with Vertical(id="lower"):
                yield LogTail("log")
                for name, title in (("voids", "Void reasons"), ("controls", "Controls"), ("tally", "Tally")):
                    yield SidePane(f"lower-{name}", title=title)
        yield Hints("hints", ascii_only=self._ascii)

    def on_mount(self) -> None:
        self._panes = Panes(self, self._glyphs)
        self._tick()
        self._second()
        self._grid.focus()
        self.set_interval(TICK_S, self._tick)
        self.set_interval(1.0, self._second)

    def on_unmount(self) -> None:
        self.feed.close()
        gc.enable()

    def on_resize(self, event: events.Resize) -> None:
        small = event.size.width < LEAST_WIDTH or event.size.height < LEAST_HEIGHT
        self.set_class(small, "-too-small")
        self.query_one("#banner", Banner).allow(100 if small else max(3, event.size.height // 6))
        said = f"{event.size.width} x {event.size.height} cells; the grid needs {LEAST_WIDTH} x {LEAST_HEIGHT}."
        self.query_one("#too-small", Static).update(Content(said if small else ""))
        self._panes.fit(event.size)
        self._write_panes()
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        """A pane that is not shown any more leaves the keys to the grid."""
        if self.focused is None or not self.focused.is_on_screen:
            self._grid.focus()
        self._show_log_title()

    @property
    def _grid(self) -> Grid:
        return self.query_one("#grid", Grid)

    @property
    def _log(self) -> LogTail:
        return self.query_one("#log", LogTail)

    @property
    def chosen(self) -> tuple[CellKey, int] | None:
        """The cursor's cell, and the attempt whose log is read where it is of that cell."""
        key = self._grid.cursor
        if key is None:
            return None
        entry = self._entry
        return key, entry.number if entry is not None and entry.key == key else self.feed.state.rule.declared_attempt

    def _tick(self) -> None:
        self._log.look()
        if self._thinking:
            return
        step = self.feed.step()
        spare_collector(step.behind)
        if step.reset or step.changed:
            with self.app.batch_update():
                self._apply(step)
        self._show_digest()
        over = self.feed.state.over and self.feed.state.rows > 0 and not step.behind
        if over and not self._verified:
            self._verify_chain()
        self._verified = over
        if step.behind:
            self.set_timer(CATCH_UP_S, self._tick)

    def _second(self) -> None:
        """What changes with time alone, and what is too dear for every row."""
        self._show_facts()
        if self._facts is None or self._facts.life != "lost":
            self._grid.tick()
        self._grid.settle()
        self._write_panes()
        self._show_why()
        self._show_log_title()
        self.query_one("#hints", Hints).dim(frozenset() if self.working else NEEDS_RUNNER)

    def _apply(self, step: Step) -> None:
        self._stale = True
        self._show_grid(step)
        self._show_facts()
        self._show_why()
        if self._concerns_log(step.changed) or step.reset:
            self._show_log()

    def _show_grid(self, step: Step) -> None:
        board = Board(self.feed.state)
        if step.reset or not self._grid.has_shape_of(board):
            self._grid.show_board(board)
        elif "excluded" in step.changed:
            self._grid.refresh()
        else:
            self._grid.apply(change for change in step.changed if isinstance(change, tuple))

    def _show_digest(self) -> None:
        """Work out banner and tally when due: at once while that is cheap, in a thread where it is not."""
        now = time.monotonic()
        if not self._stale or self._thinking or now < self._due:
            return
        if not self.feed.state.rows:
            self._worked_out(now, Digest((self._nothing_yet(),)))
        elif self._pairs() <= PAIRS_AT_ONCE:
            self._worked_out(now, digest(self.feed.state))
        else:
            self._thinking = True
            self._think()

    def _pairs(self) -> int:
        """Pairs that a banner looks at: tasks x agents x pairs of environments."""
        state = self.feed.state
        return len(state.seen_tasks) * len(state.agents) * math.comb(len(state.seen_envs), 2)

    def _nothing_yet(self) -> str:
        """What to say of a ledger without a row."""
        path = self._layout_of_run.ledger
        if self.feed.file_state == "reading":
            return f"{path}: no row yet; waiting for the first one"
        if self.feed.file_state == "missing":
            return f"{path}: no such file; waiting for it to appear"
        return f"{path}: cannot be read: {self.feed.file_reason}; check its permissions"

    @work(group="verify")
    async def _verify_chain(self) -> None:
        """Check the whole chain of a run that is over: an edited row must not show an open gate."""
        try:
            damage = await asyncio.to_thread(find_damage, self._layout_of_run.ledger)
        except LedgerError as error:
            self.say(str(error), "error")
            return
        if damage and damage != self.feed.state.damage:
            self.feed.state.damage[:] = damage
            self._stale = True

    @work(group="banner")
    async def _think(self) -> None:
        """The fold waits meanwhile, so the state holds still; keys do not."""
        started = time.monotonic()
        try:
            found = await asyncio.to_thread(digest, self.feed.state)
        finally:
            self._thinking = False
        self._worked_out(started, found)

    def _worked_out(self, started: float, found: Digest) -> None:
        now = time.monotonic()
        took = now - started
        rest = max(took, min(BANNER_REST * took, BANNER_REST_MOST_S))
        self._due = now + (max(BANNER_S, rest) if self.feed.behind else rest)
        self._stale = False
        before, self._digest = self._digest, found
        banner = self.query_one("#banner", Banner)
        banner.show(list(found.lines))
        self._tell_verdicts(banner.verdicts)
        if before != found:
            self._write_panes()

    def _tell_verdicts(self, verdicts: tuple[str, ...]) -> None:
        """A word when a verdict has become another one while one looks; what was there at the start is no news."""
        if self.feed.behind or not self._loaded:
            return
        before, self._verdicts = self._verdicts, verdicts
        fresh = [one for one in verdicts if before and one not in before]
        if fresh:
            self.say("; ".join(fresh))

    def _write_panes(self) -> None:
        if self._facts is not None:
            self._panes.write(self.feed.state, self._facts, self._digest)

    def _show_facts(self) -> None:
        linked = self._linked
        found = facts(
            self.feed.state, self._clock(), linked=linked, quiet_s=self.feed.quiet_s, gone=self.gone(linked)
        )
        before, self._facts = self._facts, found
        self.query_one("#status", StatusLine).show(found)
        if before is None or self.feed.behind:
            return
        if not self._loaded and found.life == "lost":
            self.say(f"No runner is at work on this ledger. `{self.resume_words()}` goes on.", "warning")
        if self._loaded and before.life != found.life:
            self._tell_life(found)
        self._loaded = True

    def _tell_life(self, found: Facts) -> None:
        """A word when a run ends, and a dialog when its runner is silent or gone, with what to do."""
        if found.life in ("ended", "stopped"):
            self.say(f"The run has {found.life}.")
        elif found.life in ("lost", "late"):
            self.app.push_screen(NoticeScreen(*self.notice(found.life == "lost", found.beat_s)))

    def _show_why(self) -> None:
        """The reason of the chosen row, in the grid's frame where its column does not fit."""
        grid, cursor = self._grid, self._grid.cursor
        said = grid.why(cursor[0]) if cursor is not None and not grid.why_is_whole else ""
        title = grid_title(grid, len(self.feed.state.seen_tasks), self._glyphs)
        set_frame(grid, title, safe.line(f"{cursor[0]}: {said}") if said and cursor is not None else None)

    def _concerns_log(self, changed: frozenset[Changed]) -> bool:
        if self._entry is None or not self._desk.chosen:
            return True
        return self._entry.key in changed

    def _show_log(self) -> None:
        log = self._log
        entry = self._desk.entry(self.feed.state, self._grid.cursor)
        if log.frozen and self._entry is not None:
            return
        self._entry = entry
        log.show(LogSource(entry.path, entry.growing, entry.note) if entry is not None else None)
        self._show_log_title()

    def _show_log_title(self) -> None:
        log = self._log
        title = log_title(self._entry, self.feed.state, self._desk.chosen, self._glyphs)
        self._panes.frame(title, log_hint(log, self._clock(), self._glyphs), len(self._digest.reasons))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane: tuple[keys.Scope, ...] = ("grid",) if event.widget is self._grid else ()
        hints = self.query_one("#hints", Hints)
        if self.query_one(FilterBar).editing:
            hints.show("filter")
        else:
            without = frozenset({"tab.next"}) if len(self._panes.tabs) < 2 else frozenset()
            hints.show("app", "run", "views", "pane", *pane, without=without)

    @on(Grid.CursorMoved)
    def _cell_chosen(self, event: Grid.CursorMoved) -> None:
        self._desk.choose(event.key)
        self._show_log()
        self._show_why()

    @on(Grid.ViewChanged)
    def _grid_changed(self) -> None:
        self._show_why()
        self._say_count()

    @on(Grid.NothingNotable)
    def _nothing_notable(self) -> None:
        self.say("No row flips, is void, flaky, or has agents that differ.")

    @on(LogTail.ViewChanged)
    def _log_moved(self) -> None:
        self._show_log_title()

    @on(FilterBar.Changed)
    def _filter_changed(self, event: FilterBar.Changed) -> None:
        self._grid.narrow(event.filter)
        self._show_why()
        self._say_count()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.query_one(FilterBar).set_class(bool(self._grid.arrangement.filter), "-shown")
        self._grid.focus()

    def _say_count(self) -> None:
        total = len(self.feed.state.seen_tasks)
        self.query_one(FilterBar).say(Content(f"{self._grid.shown} of {total} tasks"))

    def action_filter(self) -> None:
        bar = self.query_one(FilterBar)
        bar.add_class("-shown")
        bar.open()
        self._say_count()

    def action_back(self) -> None:
        """From a pane to the grid; in the grid first the zoom goes, then the filter."""
        if self.focused is not self._grid:
            self._panes.unzoom()
            self._grid.focus()
        elif not self._panes.unzoom() and self._grid.arrangement.filter != EVERYTHING:
            bar = self.query_one(FilterBar)
            bar.clear()
            bar.remove_class("-shown")

    def action_sort(self) -> None:
        self._grid.action_sort()

    def action_figure(self) -> None:
        self._grid.action_figure()

    def action_notable(self, direction: int) -> None:
        self._grid.action_notable(direction)

    def action_zoom(self) -> None:
        """The pane with the keys alone, or all again."""
        self._panes.zoom(self.focused)
        self._write_panes()
        self.call_after_refresh(self._keep_focus)

    def action_tab_shift(self, step: int) -> None:
        """Another pane below the grid."""
        self.action_tab(self._panes.shifted(step))

    def action_tab(self, name: str) -> None:
        had_keys = self.focused is not self._grid
        pane = self._panes.open(name)
        self._write_panes()
        self._show_log_title()
        if had_keys:
            pane.focus()

    def action_log_shift(self, step: int) -> None:
        self._desk.shift(self.feed.state, self._grid.cursor, step)
        if self._log.frozen:
            self._log.freeze(False)
        self._show_log()

    def action_follow(self) -> None:
        """Freeze the log where it is; frozen or scrolled up, follow again."""
        log = self._log
        log.freeze(log.following)
        self._show_log()

    def action_wrap(self) -> None:
        self._log.toggle_wrap()


def spare_collector(loading: bool) -> None:
    """Keep the cycle collector off the state: it is large, lives on, and a full pass would hold keys for 0.3 s."""
    if loading and gc.isenabled():
        gc.disable()
    elif not loading and not gc.isenabled():
        gc.freeze()
        gc.enable()
