"""The terminal app on one ledger. It reads, and asks a runner through a link; closing it never loses a run.

However it ends, by a key, a signal or a fault of its own, the terminal is given back as it was.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider

from tui_bench.analysis.state import CellKey
from tui_bench.errors import TuiBenchError, UsageError
from tui_bench.ledger.runs import Layout
from tui_bench.tui import keys, safe
from tui_bench.tui.glyphs import ASCII, glyphs_for
from tui_bench.tui.hangup import watch_terminal
from tui_bench.tui.link import Launcher, RunnerLink
from tui_bench.tui.palette import Commands
from tui_bench.tui.screens.help import HelpScreen
from tui_bench.tui.screens.home import HomeScreen
from tui_bench.tui.screens.ledger import LedgerScreen
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.screens.quit import QuitScreen
from tui_bench.tui.screens.task import Sight, TaskScreen
from tui_bench.tui.themes import DARK, OURS, verdict_colours
from tui_bench.tui.trees import TreeMaker
from tui_bench.tui.widgets.grid import Grid

Choice = Literal["quit", "detach", "stop", "signal"]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Departure:
    """How the screen was left. `code` is 0, or 128 + the signal that ended it."""

    choice: Choice
    code: int = 0
    ledger: Path | None = None
    """The run that was open last; None where none was."""


class BenchApp(App[Departure]):
    """One ledger, live or finished; without one the recent runs, of which one is opened.

    `link` is None where no runner is known; `clock` gives seconds since the epoch.
    """

    TITLE = "tui_bench"
    COMMANDS: ClassVar[set[type[Provider]]] = {Commands}  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("app")
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  (declared so by the base class)
        (0, "-tiny"), (60, "-small"), (80, "-normal"), (120, "-wide"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-flat"), (15, "-low"), (20, "-usual"), (35, "-tall"),
    ]  # fmt: skip

    def __init__(
        self,
        ledger: Path | None,
        link: RunnerLink | None,
        *,
        ascii_glyphs: bool = False,
        clock: Callable[[], float] = time.time,
        trees: TreeMaker | None = None,
        launcher: Launcher | None = None,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.failure: str | None = None
        """One line on the fault that ended the app; None where none did."""
        self._ledger = ledger
        self._link = link
        self._clock = clock
        self._trees = trees
        self._launcher = launcher
        self._glyphs = glyphs_for(ascii_glyphs)
        self._ascii = self._glyphs is ASCII
        self._main: MainScreen | None = None
        for theme in OURS:
            self.register_theme(theme)
        wanted = os.environ.get("TEXTUAL_THEME", DARK.name)
        # A variable that names one of ours has set it before it was registered: only a change makes its colours.
        self.theme = "textual-dark"
        self.theme = wanted if wanted in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return verdict_colours(self.current_theme.dark)

    def on_mount(self) -> None:
        self._catch_signals()
        self.set_class(self._ascii, "-ascii")
        if self._ledger is None:
            self.action_show_home()
        else:
            self._push_run(self._ledger)

    def _push_run(self, ledger: Path) -> None:
        self._ledger = ledger
        self._main = MainScreen(ledger, self._link, self._glyphs, self._ascii, self._clock)
        self.push_screen(self._main)

    def _catch_signals(self) -> None:
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.exit, Departure("signal", 128 + number))

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            ledger = self._ledger
            files = [] if ledger is None else [
                ("ledger", safe.line(str(ledger))), ("files", safe.line(str(Layout(ledger).files))),
            ]  # fmt: skip
            subject = getattr(self.screen, "HELP_OF", "run")
            self.push_screen(HelpScreen(self._glyphs, self._ascii, files, subject))

    def action_show_ledger(self) -> None:
        """Every row of the ledger, over the grid."""
        if self._ledger is not None:
            self.push_screen(LedgerScreen(self._ledger, self._glyphs, self._ascii))

    def action_show_run(self) -> None:
        """Back to the grid, whatever lies over it."""
        if self._main in self.screen_stack:
            while self.screen is not self._main:
                self.pop_screen()

    def action_show_home(self) -> None:
        """Recent runs: those that lie below, else over what is shown."""
        if any(isinstance(screen, HomeScreen) for screen in self.screen_stack):
            while not isinstance(self.screen, HomeScreen):
                self.pop_screen()
            self._main = self._main if self._main in self.screen_stack else None
        else:
            self.push_screen(HomeScreen(Path.cwd(), self._launcher, self._glyphs, self._ascii, self._clock))

    @on(HomeScreen.RunOpened)
    def _run_opened(self, event: HomeScreen.RunOpened) -> None:
        """Another run in the place of the one that was open; the list of runs lies below it."""
        if self._main in self.screen_stack and event.ledger == self._ledger:
            self.action_show_run()
            return
        if self._main in self.screen_stack:
            while len(self.screen_stack) > 1:
                self.pop_screen()
            self.action_show_home()
        if self._launcher is not None:
            self._link = self._launcher.link(event.ledger)
            self._trees = self._launcher.trees(event.ledger)
        self._push_run(event.ledger)

    @on(Grid.CellOpened)
    def _cell_opened(self, event: Grid.CellOpened) -> None:
        self._open_task(event.key)

    def _open_task(self, key: CellKey, number: int | None = None) -> None:
        """A task over what is shown now, on one of its attempts, else on the most telling one of the cell."""
        if isinstance(self.screen, TaskScreen) or self._main is None or self._ledger is None:
            return
        sight = Sight(
            self._main.feed, Layout(self._ledger), self._glyphs, self._ascii, self._clock,
            lambda: self._link is not None and self._link.alive, self._trees, self._catch_signals,
        )  # fmt: skip
        self.push_screen(TaskScreen(sight, key, number))

    @on(LedgerScreen.AttemptOpened)
    def _attempt_opened(self, event: LedgerScreen.AttemptOpened) -> None:
        self._open_task((event.task, event.env, event.agent), event.number)

    def action_leave(self) -> None:
        """Go at once; a run that is going on goes on."""
        self.exit(Departure("detach" if self._main is not None and self._main.working else "quit", ledger=self._ledger))

    @work(exclusive=True, group="quit")
    async def action_ask_quit(self) -> None:
        """Quit; while a run is going on ask what becomes of it."""
        main = self._main
        if main is None or not main.working or isinstance(self.screen, HomeScreen):
            self.exit(Departure("quit", ledger=self._ledger))
            return
        answer = await self.push_screen_wait(QuitScreen(*main.counts))
        if answer == "detach":
            self.exit(Departure("detach", ledger=self._ledger))
        elif answer == "stop" and await main.request("stop"):
            self.exit(Departure("stop", ledger=self._ledger))

    def action_interrupt(self) -> None:
        """Copy what is selected; else quit, and at the second time without asking."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.notify("Copied. Ctrl-C again without a selection quits.", markup=False)
            self.screen.clear_selection()
        elif isinstance(self.screen, QuitScreen):
            self.action_leave()
        else:
            self.action_ask_quit()

    def action_save_picture(self) -> None:
        """Save the screen as an SVG file in the current folder."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = Path.cwd() / f"tui_bench-{stamp}.svg"
        try:
            # Without the attribute some programs drop the spaces that a line begins with.
            drawn = self.export_screenshot(title=self.TITLE).replace("<text ", '<text xml:space="preserve" ')
            path.write_text(drawn, "utf-8")
        except OSError as error:
            self.notify(safe.text(f"{path}: {error.strerror}"), severity="error", markup=False)
            return
        self.notify(safe.text(f"Saved {path}"), markup=False)

    def _handle_exception(self, error: Exception) -> None:
        """End on a fault with one line instead of a traceback that shows local values."""
        self._return_code = 1
        if self.failure is None:
            self.failure = one_line(error)
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()


def one_line(error: Exception) -> str:
    """The fault and where it came from, in one clean line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace is not None else ""
    return safe.text(f"{type(error).__name__}: {error}{where}")


def run_app(
    ledger: Path | None,
    link: RunnerLink | None,
    *,
    ascii_glyphs: bool = False,
    trees: TreeMaker | None = None,
    launcher: Launcher | None = None,
) -> Departure:
    """Show the ledger, or the recent runs, until it is left.

    Raises UsageError where a terminal cannot, TuiBenchError on a fault.
    """
    if os.environ.get("TERM", "dumb") in ("", "dumb", "unknown"):
        raise UsageError("this terminal cannot move its cursor (TERM is dumb or unset): use --headless or --plain")
    app = BenchApp(ledger, link, ascii_glyphs=ascii_glyphs, trees=trees, launcher=launcher)
    over = watch_terminal(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0)
    try:
        left = app.run()
    finally:
        over.set()
    if app.failure is not None:
        again = f"watch {ledger}" if ledger is not None else "watch LEDGER"
        raise TuiBenchError(
            f"the screen failed: {app.failure}; the run is not affected, `tui-bench {again}` opens it again"
        )
    return left if left is not None else Departure("quit")
