"""Recent runs: which study, how it stands, how far it is, what it found; open one, go on with one, start one.

Ledgers are read in a thread and in pieces; what is not read yet says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from tui_bench.errors import TuiBenchError
from tui_bench.tui import keys, safe
from tui_bench.tui.clock import short_age
from tui_bench.tui.filter import EVERYTHING, Filter
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.link import Launcher
from tui_bench.tui.run_reader import Summary
from tui_bench.tui.run_shelf import RunShelf
from tui_bench.tui.run_words import fields_of, progress_words, run_choice, run_columns, state_words
from tui_bench.tui.screens.confirm import ConfirmScreen
from tui_bench.tui.screens.start import StartScreen
from tui_bench.tui.widgets.banner import without_twins
from tui_bench.tui.widgets.choices import ChoiceList
from tui_bench.tui.widgets.filter_bar import FilterBar
from tui_bench.tui.widgets.hints import Hints

TICK_S = 1.0
EMPTY = (
    ("No runs here yet.", "bold"),
    ("", ""),
    ("s starts one from here, or on the command line:", ""),
    ("tui-bench run sample_config", "$accent"),
)


class HomeScreen(Screen[None]):
    """The list of runs. `launcher` is None where nothing can be started from here."""

    CSS_PATH: ClassVar[list[str | PurePath]] = ["home.tcss", "filter.tcss"]
    AUTO_FOCUS = "#runs"
    HELP_OF = "home"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("home")

    @dataclass
    class RunOpened(Message):
        """A person wants this run on the screen."""

        ledger: Path

    def __init__(
        self,
        folder: Path,
        launcher: Launcher | None,
        glyphs: Glyphs,
        ascii_only: bool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._folder = folder
        self._launcher = launcher
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._clock = clock
        self._shelf = RunShelf(folder, launcher)
        self._runs: dict[str, Summary] = {}
        self._filter: Filter = EVERYTHING
        self._looking = False
        self._resuming = False

    def compose(self) -> ComposeResult:
        yield Static("", id="home-status", markup=False)
        yield FilterBar("home-filter", syntax="any text, ! inverse")
        with Vertical(id="home-body"):
            yield ChoiceList(run_columns, "runs", glyphs=self._glyphs)
            with VerticalScroll(id="run-words", can_focus=False):
                yield Static("", id="run-text", markup=False)
        yield Static(Content("\n").join(Content.styled(*part) for part in EMPTY), id="home-empty", markup=False)
        yield Hints("hints", ascii_only=self._ascii)

    def on_mount(self) -> None:
        self._list.focus()
        self._tick()
        self.set_interval(TICK_S, self._tick)

    def on_unmount(self) -> None:
        if not self._looking:
            self._shelf.close()

    def on_screen_resume(self) -> None:
        self._tick()

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def _bar(self) -> FilterBar:
        return self.query_one(FilterBar)

    @property
    def _chosen(self) -> Summary | None:
        return self._runs.get(self._list.chosen or "")

    def _tick(self) -> None:
        """Look again, but not while another screen lies over this one."""
        if not self._looking and self.is_current:
            self._looking = True
            self._look()

    @work(group="runs")
    async def _look(self) -> None:
        try:
            while self.is_attached:
                await asyncio.to_thread(self._shelf.look)
                # The app may have ended while the thread was at work: then there is nothing left to show it on.
                with suppress(NoMatches):
                    self._show()
                if not self._shelf.behind or not self.is_current:
                    break
        finally:
            self._looking = False
            if not self.is_attached:
                self._shelf.close()

    def _show(self) -> None:
        now = self._clock()
        runs = self._shelf.summaries(now)
        self._runs = {str(run.ledger): run for run in runs}
        fitting = [run for run in runs if not self._filter or self._filter.matches(fields_of(run, self._glyphs))]
        self._list.show([run_choice(run, now, self._glyphs) for run in fitting])
        self.set_class(self._shelf.looked and not runs, "-empty")
        self._list.border_title = Content(f"Runs, newest first ({len(runs)})" if runs else "Runs")
        self._bar.say(Content(f"{len(fitting)} of {len(runs)} runs" if self._filter else ""))
        self._show_status(runs)
        self._show_words()

    def _show_status(self, runs: list[Summary]) -> None:
        live = sum(run.facts is not None and run.facts.life in ("live", "paused", "late") for run in runs)
        right = Content.assemble((f"{live} live ", "$bench-pass" if live else "$bench-muted"))
        left = Content.assemble((" tui_bench", "bold"), f" {self._glyphs.rule} Recent runs  ")
        room = max(0, self.size.width - left.cell_length - right.cell_length - 1)
        path = safe.line(str(self._folder)).truncate(room, ellipsis=True)
        gap = max(1, self.size.width - left.cell_length - path.cell_length - right.cell_length)
        self.query_one("#home-status", Static).update(Content.assemble(left, path, " " * gap, right))

    def _show_words(self) -> None:
        """All that is known of the chosen run, and what can be done with it."""
        run = self._chosen
        lines = [] if run is None else [Content.assemble(("ledger  ", "$bench-muted"), safe.text(str(run.ledger)))]
        if run is not None and run.facts is not None:
            begun = f", begun {short_age(max(0.0, self._clock() - run.begun))} ago" if run.begun is not None else ""
            said = f"{state_words(run, self._glyphs)[0]}, {progress_words(run)} attempts{begun}"
            lines.append(Content.assemble(("state   ", "$bench-muted"), said))
        if run is not None:
            found = without_twins(run.verdict or run.damage or (run.reason,), self.size.width - 4)
            lines += [safe.line(line) for line in found]
            if run.resumable and self._launcher is not None:
                lines.append(Content.assemble(("u", "bold $accent"), " goes on with it: rows on disk are safe"))
        self.query_one("#run-text", Static).update(Content("\n").join(lines))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        hints = self.query_one(Hints)
        if self._bar.editing:
            hints.show("filter")
        else:
            hints.show("app", "home", "pane")

    @on(ChoiceList.Moved)
    def _moved(self) -> None:
        self._show_words()

    @on(ChoiceList.Picked)
    def _picked(self, event: ChoiceList.Picked) -> None:
        self.post_message(self.RunOpened(Path(event.key)))

    @on(FilterBar.Changed)
    def _filtered(self, event: FilterBar.Changed) -> None:
        self._filter = event.filter
        self._show()

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self._list.focus()

    def action_filter(self) -> None:
        self._bar.open()

    def action_open(self) -> None:
        self._list.pick()

    def action_back(self) -> None:
        """Out of the filter, then to the run that lies below."""
        if self._filter:
            self._bar.clear()
        elif len(self.app.screen_stack) > 2:
            self.dismiss()

    @work(group="start", exclusive=True)
    async def action_start(self) -> None:
        if self._launcher is None:
            self._say("Nothing can be started from here.", "warning")
            return
        started = await self.app.push_screen_wait(StartScreen(self._folder, self._launcher, self._glyphs, self._ascii))
        if started is not None:
            self.post_message(self.RunOpened(started))

    @work(group="start", exclusive=True)
    async def action_resume(self) -> None:
        """Go on with a lost or stopped run, after a question."""
        run, launcher = self._chosen, self._launcher
        if run is None or run.facts is None or not run.resumable or launcher is None:
            self._say("Only a stopped run, or one whose runner is gone, can be resumed.", "warning")
            return
        if self._resuming:
            return
        lines = [
            safe.line(f"{run.facts.study}, {progress_words(run)} attempts done."),
            Content("Lost attempts are made again; nothing is deleted."),
        ]
        if not await self.app.push_screen_wait(ConfirmScreen(Content("Resume this run?"), lines)):
            return
        self._resuming = True
        self._say("Starting the runner ...")
        try:
            await asyncio.to_thread(launcher.resume, run.ledger)
        except TuiBenchError as error:
            self._say(str(error), "error")
            return
        finally:
            self._resuming = False
        self.post_message(self.RunOpened(run.ledger))

    def _say(self, message: str, severity: SeverityLevel = "information") -> None:
        self.notify(safe.text(message), severity=severity, markup=False)
