"""Start a study: choose one, have it checked, set attempts and jobs, go. Nothing runs before the last key."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from tui_bench.errors import TuiBenchError
from tui_bench.recent import recent
from tui_bench.study.ranges import ATTEMPTS, JOBS
from tui_bench.tui import keys, safe
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.link import CheckResult, Launcher
from tui_bench.tui.studies import find_studies
from tui_bench.tui.widgets.choices import Choice, ChoiceList
from tui_bench.tui.widgets.grid_layout import GUTTER, Span
from tui_bench.tui.widgets.hints import Hints

Field = Literal["attempts", "jobs"]
FIELDS: tuple[Field, ...] = ("attempts", "jobs")
_RANGES = {"attempts": ATTEMPTS, "jobs": JOBS}
_MEANS = {"attempts": "fresh attempts of each cell", "jobs": "attempts at a time"}


class StartScreen(Screen[Path | None]):
    """Dismissed with the ledger of the run that was started, or None."""

    CSS_PATH = "home.tcss"
    AUTO_FOCUS = "#studies"
    HELP_OF = "start"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("start")

    def __init__(self, folder: Path, launcher: Launcher, glyphs: Glyphs, ascii_only: bool) -> None:
        super().__init__()
        self._folder = folder
        self._launcher = launcher
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._checked: Path | None = None
        self._result: CheckResult | None = None
        self._numbers: dict[Field, int] = {"attempts": 1, "jobs": 1}
        self._field: Field = "attempts"
        self._starting = False

    def compose(self) -> ComposeResult:
        yield Static("", id="start-status", markup=False)
        with Vertical(id="start-body"):
            yield ChoiceList(_columns, "studies", glyphs=self._glyphs)
            with VerticalScroll(id="start-words", can_focus=False):
                yield Static("", id="start-text", markup=False)
        yield Hints("hints", ascii_only=self._ascii)

    def on_mount(self) -> None:
        title = Content.assemble((" tui_bench", "bold"), f" {self._glyphs.rule} Start a study")
        self.query_one("#start-status", Static).update(Content.assemble(title))
        self._list.border_title = Content("Studies")
        self.query_one("#start-words").border_title = Content("Check")
        self._list.focus()
        self._find()

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @work(group="find")
    async def _find(self) -> None:
        found = await asyncio.to_thread(_studies, self._folder)
        self._list.show([Choice(str(path), {"study": (_shown(path, self._folder), "plain")}) for path in found])
        self._show()

    def _show(self) -> None:
        result = self._result
        if result is None:
            lines = self._before_check()
        elif result.problems:
            lines = _problem_lines(result)
        else:
            lines = self._plan_lines(result)
        self.query_one("#start-text", Static).update(Content("\n").join(lines))

    def _before_check(self) -> list[Content]:
        if self._checked is not None:
            return [safe.line(f"checking {_shown(self._checked, self._folder)} ...")]
        if self._list.chosen is None:
            return [
                Content("No study here: a folder with bench.yaml, or with envs.tsv and tasks/."),
                Content("Go to one, or start `tui-bench run PATH`."),
            ]
        return [Content.assemble(("enter", "bold $accent"), " checks the study and shows what it would run")]

    def _plan_lines(self, result: CheckResult) -> list[Content]:
        attempts = self._numbers["attempts"]
        agents = safe.text(", ".join(result.agents)) if result.agents else "none"
        rows = [
            ("study", safe.text(result.study)),
            ("subject", safe.text(result.subject)),
            ("tasks", str(result.tasks)),
            ("environments", safe.text(", ".join(result.environments))),
            ("agents", agents),
            ("gate", safe.text(f"flip rate at most {result.flip_rate}, of at least {result.min_pairs} of the pairs")),
        ]
        lines = [Content.assemble((f"{name:<14}", "$bench-muted"), said) for name, said in rows]
        lines.append(Content(""))
        lines += [self._field_line(field) for field in FIELDS]
        product = " x ".join(_product(result, attempts))
        lines.append(Content.assemble((f"{'planned':<14}", "$bench-muted"), (str(result.planned(attempts)), "bold"),
                                      f" attempts: {product}"))  # fmt: skip
        lines += [Content(""), *(safe.line(f"note: {note}") for note in result.notes)]
        said = "starting the runner ..." if self._starting else "starts it in the background and opens it"
        lines.append(Content.assemble(("S", "bold $accent"), f" {said}"))
        return lines

    def _field_line(self, field: Field) -> Content:
        chosen = field == self._field
        sign = self._glyphs.cursor if chosen else " "
        value = f"{self._numbers[field]:>5}"
        return Content.assemble(
            (f"{sign} {field:<12}", "bold $accent" if chosen else "$bench-muted"), (value, "bold"),
            (f"   {_MEANS[field]}{'   - less  + more' if chosen else ''}", "$bench-muted"),
        )  # fmt: skip

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.query_one(Hints).show("app", "start", "pane")

    @on(ChoiceList.Moved)
    def _moved(self, event: ChoiceList.Moved) -> None:
        if self._checked is not None and event.key != str(self._checked):
            self._checked = self._result = None
            self._show()

    @on(ChoiceList.Sideways)
    def _sideways(self, event: ChoiceList.Sideways) -> None:
        self._field = FIELDS[(FIELDS.index(self._field) + event.step) % len(FIELDS)]
        self._show()

    @on(ChoiceList.Picked)
    def _picked(self, event: ChoiceList.Picked) -> None:
        self._check(Path(event.key))

    @work(group="check", exclusive=True)
    async def _check(self, study: Path) -> None:
        self._checked, self._result = study, None
        self._show()
        result = await asyncio.to_thread(self._launcher.check, study)
        if self._checked == study and self.is_current:
            self._result = result
            self._numbers = {"attempts": result.attempts, "jobs": result.jobs}
            self._show()

    def action_change(self, step: int) -> None:
        """One more or one less of the chosen number."""
        if self._result is None or self._result.problems:
            self._say("Check a study first: enter.", "warning")
            return
        allowed = _RANGES[self._field]
        self._numbers[self._field] = int(min(max(self._numbers[self._field] + step, allowed.low), allowed.high))
        self._show()

    @work(group="start")
    async def action_go(self) -> None:
        """Start the run; the screen stays where that does not succeed."""
        study, result = self._checked, self._result
        if study is None or result is None or result.problems:
            self._say("There is nothing to start: enter checks the chosen study.", "warning")
            return
        if self._starting:
            return
        self._starting = True
        self._show()
        attempts = self._numbers["attempts"] if self._numbers["attempts"] != result.attempts else None
        jobs = self._numbers["jobs"] if self._numbers["jobs"] != result.jobs else None
        try:
            ledger = await asyncio.to_thread(self._launcher.start, study, attempts, jobs)
        except TuiBenchError as error:
            self._starting = False
            self._result = CheckResult(problems=tuple(str(error).splitlines()))
            self._show()
            return
        if self.is_attached:
            self.dismiss(ledger)

    def action_check(self) -> None:
        self._list.pick()

    def action_back(self) -> None:
        self.dismiss(None)

    def _say(self, message: str, severity: SeverityLevel = "information") -> None:
        self.notify(safe.text(message), severity=severity, markup=False)


def _studies(folder: Path) -> list[Path]:
    return find_studies(folder, [one.study for one in recent() if one.study is not None])


def _columns(width: int) -> dict[str, Span]:
    return {"study": Span(GUTTER, max(1, width - GUTTER))}


def _shown(path: Path, folder: Path) -> str:
    """A study by its path from the folder where it lies in it."""
    if path == folder:
        return f"{safe.text(path.name)} (this folder)"
    return safe.text(str(path.relative_to(folder) if path.is_relative_to(folder) else path))


def _problem_lines(result: CheckResult) -> list[Content]:
    count = len(result.problems)
    title = f"{count} problems: nothing can be started" if count > 1 else "A problem: nothing can be started"
    return [Content.assemble((title, "bold $bench-fail")), Content(""), *(safe.line(one) for one in result.problems)]


def _product(result: CheckResult, attempts: int) -> list[str]:
    parts = [f"{result.tasks} tasks", f"{len(result.environments)} environments"]
    if result.agents:
        parts.append(f"{len(result.agents)} agents")
    return [*parts, f"{attempts} attempts"]
