"""The run as it is now: state, verdict, grid, and the log of one attempt.

Everything comes from the ledger through the feed. A person's place is kept: rows that arrive move neither the cursor,
nor a log one has scrolled, nor a frozen one.
"""

from __future__ import annotations

import asyncio
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from tui_bench.analysis.banner import banner
from tui_bench.analysis.fold import Changed
from tui_bench.errors import LedgerError, RunnerError
from tui_bench.ledger.runs import Layout
from tui_bench.reading import find_damage
from tui_bench.tui import keys, safe
from tui_bench.tui.board import Board
from tui_bench.tui.feed import Feed, Step
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.link import RunnerLink
from tui_bench.tui.log_choice import LogEntry
from tui_bench.tui.log_desk import LogDesk
from tui_bench.tui.log_title import log_hint, log_title
from tui_bench.tui.screens.confirm import ConfirmScreen
from tui_bench.tui.widgets.banner import Banner
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.hints import Hints
from tui_bench.tui.widgets.log_tail import LogSource, LogTail
from tui_bench.tui.widgets.status import Facts, StatusLine, facts

TICK_S = 0.1
CATCH_UP_S = 0.01
BANNER_S = 0.5
"""How often the banner is worked out anew while a large ledger is being read."""
BANNER_REST = 8
"""It rests so many times as long as it took."""
PAIRS_AT_ONCE = 500
"""Pairs up to which the banner is worked out on the loop: some 10 ms of work."""
LEAST_WIDTH, LEAST_HEIGHT = 60, 15
"""Cells below which only the banner is shown."""


class MainScreen(Screen[None]):
    """The first screen. `link` is None where no runner is known."""

    CSS_PATH = "main.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("run", "views")

    def __init__(
        self,
        ledger: Path,
        link: RunnerLink | None,
        glyphs: Glyphs,
        ascii_only: bool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.feed = Feed(ledger)
        self._link = link
        self._layout_of_run = Layout(ledger)
        self._desk = LogDesk(self._layout_of_run)
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._clock = clock
        self._entry: LogEntry | None = None
        self._facts: Facts | None = None
        self._banner_stale = True
        self._banner_due = 0.0
        self._thinking = False
        self._verified = False
        self._loaded = False

    def compose(self) -> ComposeResult:
        yield StatusLine("status", glyphs=self._glyphs)
        yield Banner("banner")
        yield Static("", id="too-small", markup=False)
        with Vertical(id="body"):
            yield Grid("grid", glyphs=self._glyphs, clock=self._clock)
            yield LogTail("log")
        yield Hints("hints", ascii_only=self._ascii)

    def on_mount(self) -> None:
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

    @property
    def _grid(self) -> Grid:
        return self.query_one("#grid", Grid)

    @property
    def _log(self) -> LogTail:
        return self.query_one("#log", LogTail)

    @property
    def working(self) -> bool:
        """Whether a runner is at work that leaving would leave alone."""
        return self._linked and not self.feed.state.over

    @property
    def counts(self) -> tuple[int, int]:
        """Attempts running, and attempts left that are not."""
        state = self.feed.state
        return len(state.running), max(0, state.planned - state.counts.done - len(state.running))

    @property
    def _linked(self) -> bool:
        return self._link is not None and self._link.alive

    def _tick(self) -> None:
        self._log.look()
        if self._thinking:
            return
        step = self.feed.step()
        spare_collector(step.behind)
        if step.reset or step.changed:
            with self.app.batch_update():
                self._apply(step)
        self._show_banner()
        over = self.feed.state.over and self.feed.state.rows > 0 and not step.behind
        if over and not self._verified:
            self._verify_chain()
        self._verified = over
        if step.behind:
            self.set_timer(CATCH_UP_S, self._tick)

    def _second(self) -> None:
        """What changes with time alone."""
        self._show_facts()
        self._grid.tick()
        self._show_why()
        self._show_log_title()

    def _apply(self, step: Step) -> None:
        self._banner_stale = True
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

    def _show_banner(self) -> None:
        """Work out the banner when it is due: at once while that is cheap, in a thread where it is not."""
        now = time.monotonic()
        if not self._banner_stale or self._thinking or now < self._banner_due:
            return
        if not self.feed.state.rows:
            self._banner_worked_out(now, [self._nothing_yet()])
        elif self._pairs() <= PAIRS_AT_ONCE:
            self._banner_worked_out(now, banner(self.feed.state))
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
            self._say(str(error), "error")
            return
        if damage and damage != self.feed.state.damage:
            self.feed.state.damage[:] = damage
            self._banner_stale = True

    @work(group="banner")
    async def _think(self) -> None:
        """The fold waits meanwhile, so the state holds still; keys do not."""
        started = time.monotonic()
        try:
            lines = await asyncio.to_thread(banner, self.feed.state)
        finally:
            self._thinking = False
        self._banner_worked_out(started, lines)

    def _banner_worked_out(self, started: float, lines: list[str]) -> None:
        now = time.monotonic()
        rest = BANNER_REST * (now - started)
        self._banner_due = now + (max(BANNER_S, rest) if self.feed.behind else rest)
        self._banner_stale = False
        self.query_one("#banner", Banner).show(lines)

    def _show_facts(self) -> None:
        found = facts(self.feed.state, self._clock(), linked=self._linked, quiet_s=self.feed.quiet_s)
        before, self._facts = self._facts, found
        self.query_one("#status", StatusLine).show(found)
        if before is None or self.feed.behind:
            return
        if self._loaded and before.life != found.life:
            self._tell_life(found)
        self._loaded = True

    def _tell_life(self, found: Facts) -> None:
        """A word when a run ends or its runner is gone, with what to do."""
        if found.life in ("ended", "stopped"):
            self._say(f"The run has {found.life}.")
        elif found.life == "lost":
            path = self._layout_of_run.ledger
            self._say(f"The runner is gone. `tui-bench resume {path}` goes on; rows on disk are safe.", "warning")

    def _show_why(self) -> None:
        """The reason of the chosen row, in the grid's frame where its column does not fit."""
        grid, cursor = self._grid, self._grid.cursor
        first, last = grid.visible_rows
        total = len(self.feed.state.seen_tasks)
        said = grid.why(cursor[0]) if cursor is not None and not grid.has_why else ""
        title = Content(f"Tasks {first}-{last} of {total}" if total else "Tasks")
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
        set_frame(log, title, log_hint(log, self._clock(), self._glyphs))

    def _say(self, message: str, severity: SeverityLevel = "information") -> None:
        self.notify(safe.text(message), severity=severity, markup=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane: keys.Scope = "log" if event.widget is self._log else "grid"
        self.query_one("#hints", Hints).show("app", "run", "views", pane)

    @on(Grid.CursorMoved)
    def _cell_chosen(self, event: Grid.CursorMoved) -> None:
        self._desk.choose(event.key)
        self._show_log()
        self._show_why()

    @on(LogTail.Back)
    def _log_left(self) -> None:
        self._grid.focus()

    @on(LogTail.ViewChanged)
    def _log_moved(self) -> None:
        self._show_log_title()

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

    def action_pause(self) -> None:
        self.ask_runner("resume" if self.feed.state.status == "paused" else "pause")

    @work
    async def action_stop_run(self) -> None:
        if not self.working:
            self._say("There is no run to stop.", "warning")
            return
        running, _ = self.counts
        lines = [
            Content(f"Running attempts ({running}) end as void: operator_stopped."),
            Content("The rest is not started; `tui-bench resume` goes on."),
        ]
        if await self.app.push_screen_wait(ConfirmScreen(Content("Stop the run?"), lines)):
            await self.request("stop")

    @work(group="requests")
    async def ask_runner(self, do: str) -> None:
        """Send a request; the answer shows as rows in the ledger."""
        await self.request(do)

    async def request(self, do: str) -> bool:
        """Send a request and say why where it cannot be done. True when the runner took it."""
        if self._link is None or self.feed.state.over:
            self._say(f"Nothing to {do}: this run has no runner.", "warning")
            return False
        try:
            await self._link.request(do)
        except RunnerError as error:
            self._say(str(error), "error")
            return False
        return True


def set_frame(widget: Grid | LogTail, title: Content, subtitle: Content | None) -> None:
    """Words in a pane's frame. Setting them draws the whole pane, so the same ones are not set again."""
    wanted = (title, subtitle or Content(""))
    if not all(map(Content.is_same, wanted, widget.frame)):
        widget.frame = wanted
        widget.border_title = title
        widget.border_subtitle = subtitle


def spare_collector(loading: bool) -> None:
    """Keep the cycle collector off the state: it is large, lives on, and a full pass would hold keys for 0.3 s."""
    if loading and gc.isenabled():
        gc.disable()
    elif not loading and not gc.isenabled():
        gc.freeze()
        gc.enable()
