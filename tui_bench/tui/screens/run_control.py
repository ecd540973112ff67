"""A screen that can ask a runner for something. What costs is asked first; what cannot be done says why and the cure.

Every request is echoed in the ledger by the runner, so all viewers of a run see it from there.
"""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from textual import work
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import Screen

from tui_bench.analysis.flip import flip_tables
from tui_bench.analysis.state import CellKey, Running, RunState
from tui_bench.analysis.wording.numbers import counted
from tui_bench.errors import LedgerError, RunnerError
from tui_bench.ledger.reader import read_at
from tui_bench.ledger.rows import AttemptRow
from tui_bench.ledger.runs import Layout
from tui_bench.tui import safe
from tui_bench.tui.clock import remaining, short_age, time_range
from tui_bench.tui.feed import Feed
from tui_bench.tui.link import RunnerLink
from tui_bench.tui.screens.confirm import ConfirmScreen

FRESH = 5
"""Fresh attempts a side of a flipped task."""
MERGE_S = 5.0
"""Equal messages within this time are said once."""
GONE_S = 2.0
"""A runner writes its last row before it ends; that long its row may be under way."""
NEEDS_RUNNER = frozenset({
    "run.pause", "run.stop", "run.more", "run.fewer", "attempt.stop", "attempt.probe", "run.rerun_flips",
})  # fmt: skip
"""Keys that need a runner that is at work."""


class RunControl(Screen[None]):
    """Requests and the questions before them. `link` is None where no runner is known."""

    def __init__(self, ledger: Path, link: RunnerLink | None) -> None:
        super().__init__()
        self.feed = Feed(ledger)
        self._link = link
        self._layout_of_run = Layout(ledger)
        self._said: dict[str, float] = {}
        self._seen_alive = False
        self._dead_since: float | None = None

    @property
    def _linked(self) -> bool:
        return self._link is not None and self._link.alive

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
    def chosen(self) -> tuple[CellKey, int] | None:
        """Cell and number of the attempt that a request is about; None where there is none."""
        raise NotImplementedError

    def gone(self, linked: bool) -> bool:
        """Whether a runner that was seen at work has ended without its last word."""
        self._seen_alive = self._seen_alive or linked
        if linked or not self._seen_alive or self.feed.state.over:
            self._dead_since = None
            return False
        if self._dead_since is None:
            self._dead_since = time.monotonic()
        return time.monotonic() - self._dead_since >= GONE_S

    def say(self, message: str, severity: SeverityLevel = "information") -> None:
        """A word in the corner; the same word within five seconds is said once."""
        now = time.monotonic()
        if now - self._said.get(message, now - 2 * MERGE_S) < MERGE_S:
            return
        self._said = {text: at for text, at in self._said.items() if now - at < MERGE_S} | {message: now}
        self.notify(safe.text(message), severity=severity, markup=False)

    def resume_words(self, *options: str) -> str:
        """What to type where no runner is alive."""
        return " ".join(["tui-bench resume", shlex.quote(str(self._layout_of_run.ledger)), *options])

    def _can(self, what: str, *options: str) -> bool:
        """Whether a runner can be asked; says why not and what to type."""
        if self.working:
            return True
        state = self.feed.state
        why = f"the run has {state.status}" if state.over and state.rows else "no runner is alive here"
        self.say(f"Cannot {what}: {why}. `{self.resume_words(*options)}`", "warning")
        return False

    async def request(self, do: str, arg: object = None) -> bool:
        """Send a request and say why where it cannot be done. True when the runner took it."""
        if not self._can(do) or self._link is None:
            return False
        try:
            await self._link.request(do, arg)
        except RunnerError as error:
            self.say(str(error), "error")
            return False
        return True

    @work(group="requests")
    async def ask_runner(self, do: str, arg: object = None) -> None:
        """Send a request; the answer shows as rows in the ledger."""
        await self.request(do, arg)

    def action_pause(self) -> None:
        self.ask_runner("resume" if self.feed.state.status == "paused" else "pause")

    def action_jobs(self, step: int) -> None:
        """More or fewer attempts at once; the ledger tells how many there are to be."""
        if not self._can("change the jobs", "--jobs N"):
            return
        wanted = self.feed.state.jobs + step
        if wanted < 1:
            self.say("One attempt at a time is the least; p pauses.", "warning")
        else:
            self.ask_runner("jobs", wanted)

    @work
    async def action_stop_run(self) -> None:
        if not self._can("stop"):
            return
        running, _ = self.counts
        await self._after_yes(
            "Stop the run?",
            [f"Running attempts ({running}) end as void: operator_stopped.",
             "The rest is not started; `tui-bench resume` goes on."],
            "stop",
        )  # fmt: skip

    @work
    async def action_stop_attempt(self) -> None:
        """Stop the attempt under the cursor; it becomes a void."""
        if not self._can("stop an attempt"):
            return
        one = self._running_here()
        if one is None:
            self.say("No attempt of this cell is running; the cursor chooses which.", "warning")
            return
        await self._after_yes(
            "Stop this attempt?",
            [safe.text(_named(one.key, one.number)), "It ends as void: operator_stopped, never as a fail."],
            "cancel", one.attempt_id,
        )  # fmt: skip

    @work
    async def action_probe(self) -> None:
        """One more attempt of the chosen cell, outside of every count."""
        chosen = self.chosen
        ident = self._attempt_id(*chosen) if chosen is not None else None
        if chosen is None or ident is None:
            self.say("There is no attempt here to run again.", "warning")
            return
        if not self._can("run it again", f"--rerun {ident}"):
            return
        await self._after_yes(
            "Run this attempt again, as a probe?",
            [safe.text(_named(*chosen)), "A probe is never scored: it enters no count, no rate and no gate.",
             self._cost(1)],
            "rerun", ident,
        )  # fmt: skip

    @work
    async def action_rerun_flips(self) -> None:
        """Register fresh attempts of every flipped task in both environments."""
        cells = flips_to_register(self.feed.state)
        if not cells:
            self.say("No task flips that is not registered already.", "warning")
            return
        if not self._can("re-run the flips", "--rerun-flips"):
            return
        tasks, number = len({task for task, _, _ in cells}), len(cells) * FRESH
        await self._after_yes(
            "Re-run the flips, registered?",
            [f"{FRESH} fresh attempts in each of {len(cells)} cells of {counted(tasks, 'flipped task')}: {number}.",
             self._cost(number),
             "They are judged apart, box or noise; the flip count and the gate stay as they are."],
            "rerun_flips", FRESH,
        )  # fmt: skip

    def notice(self, lost: bool, beat_s: float | None) -> tuple[Content, list[Content]]:
        """Title and lines about a runner that is gone, or that lives and says nothing."""
        state, running = self.feed.state, len(self.feed.state.running)
        silent = f"No word from it for {short_age(beat_s)}" if beat_s is not None else "No word from it"
        pid = f" (pid {state.run.pid} on {state.run.host})" if state.run is not None else ""
        safe_rows = f"{counted(state.done, 'attempt')} are safe in the ledger; {running} were running"
        if lost:
            lines = [f"{silent}; the process{pid} is gone.", f"{safe_rows} and end as void: interrupted.", "",
                     "To go on, in another terminal or after q:", f"  {self.resume_words()}",
                     f"Its last words: {self._layout_of_run.runner_log}"]  # fmt: skip
            title = "The runner is gone"
        else:
            lines = [f"{silent}, though the process{pid} lives.", f"{safe_rows}.", "",
                     "Is the disk full, or the machine asleep or overloaded? It may come back by itself.",
                     f"Its last words: {self._layout_of_run.runner_log}",
                     "X stops it; if it does not answer, end that process, then:",
                     f"  {self.resume_words()}"]  # fmt: skip
            title = "The runner says nothing"
        return Content(title), [safe.line(line) for line in lines]

    async def _after_yes(self, title: str, lines: list[str], do: str, arg: object = None) -> None:
        if await self.app.push_screen_wait(ConfirmScreen(Content(title), [Content(line) for line in lines])):
            await self.request(do, arg)

    def _cost(self, attempts: int) -> str:
        """How long so many attempts take, by those that have finished."""
        state = self.feed.state
        span = remaining(state.walls, attempts, min(state.jobs, attempts))
        return f"About {time_range(*span)}." if span else "Too few attempts have finished to tell how long it takes."

    def _running_here(self) -> Running | None:
        """The chosen attempt where it runs, else the newest running one of the chosen cell."""
        if self.chosen is None:
            return None
        key, number = self.chosen
        here = [one for one in self.feed.state.running.values() if one.key == key]
        return max(here, key=lambda one: (one.number == number, one.since), default=None)

    def _attempt_id(self, key: CellKey, number: int) -> str | None:
        offset = self.feed.state.cell(*key).offset(number)
        if offset is None:
            running = self.feed.state.running.values()
            return next((one.attempt_id for one in running if (one.key, one.number) == (key, number)), None)
        try:
            row = read_at(self._layout_of_run.ledger, offset)
        except LedgerError:
            return None
        return row.attempt_id if isinstance(row, AttemptRow) else None


def flips_to_register(state: RunState) -> set[CellKey]:
    """Both cells of every task that flips at the declared attempt and has no registered attempts yet."""
    if len(state.env_names()) < 2:
        return set()
    cells = {
        (task.task, env, table.agent)
        for table in flip_tables(state)
        for task in table.tasks
        if task.mark == "flip"
        for env in (table.env_a, table.env_b)
    }
    return cells - set(state.registered)


def _named(key: CellKey, number: int) -> str:
    task, env, agent = key
    return " · ".join([*(part for part in (task, agent, env) if part), f"#{number + 1}"])
