"""One task: all its attempts across environments and agents, and every text of the one under the cursor.

It lies over the run's screen, reads the same state, and leaves it as it was. Rows that arrive move neither the cursor
nor the text one is reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import Screen

from tui_bench.analysis.state import CellKey, Code, RunState
from tui_bench.analysis.task_attempts import TaskAttempt, attempts_of, telling
from tui_bench.analysis.wording.attempt_text import attempt_notes
from tui_bench.analysis.wording.task_text import task_sentences
from tui_bench.errors import TuiBenchError, UsageError
from tui_bench.ledger.rows import AttemptRow
from tui_bench.ledger.runs import Layout
from tui_bench.tui import keys, safe
from tui_bench.tui.attempt_cells import Cells, cells_of, label
from tui_bench.tui.copied import copied
from tui_bench.tui.documents import PROMPT, Document, documents, file_of, opening
from tui_bench.tui.feed import Feed
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.outside import Outside
from tui_bench.tui.resource_lines import Sibling, resource_lines
from tui_bench.tui.row_shelf import RowShelf
from tui_bench.tui.screens.confirm import ConfirmScreen
from tui_bench.tui.screens.copy import CopyScreen, What
from tui_bench.tui.trees import TreeMaker
from tui_bench.tui.widgets.attempts_table import AttemptsTable
from tui_bench.tui.widgets.crumbs import Crumbs
from tui_bench.tui.widgets.file_pane import RESOURCES, FilePane
from tui_bench.tui.widgets.file_view import FileView
from tui_bench.tui.widgets.head_line import HeadLine
from tui_bench.tui.widgets.hints import Hints
from tui_bench.tui.widgets.resources import Resources
from tui_bench.tui.widgets.search_line import SearchLine
from tui_bench.tui.widgets.status import facts

TICK_S = 0.1
LEAST_WIDTH, LEAST_HEIGHT = 60, 15
"""Cells below which only the head line is shown."""
SIDE_WIDTH, SIDE_HEIGHT = 120, 35
"""Cells from which the resources stand beside the text instead of in a tab."""
TOAST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Sight:
    """What the screen looks at and with: the run's feed and files, and who can make an attempt's tree again."""

    feed: Feed
    layout: Layout
    glyphs: Glyphs
    ascii_only: bool
    clock: Callable[[], float]
    linked: Callable[[], bool]
    trees: TreeMaker | None
    again: Callable[[], None]
    """Sets the app's signal handlers after the terminal was lent."""


class TaskScreen(Screen[None]):
    """`key` is the cell whose attempt `number` is shown first, or where that is None its most telling one."""

    CSS_PATH = "task.tcss"
    HELP_OF = "task"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("task")

    def __init__(self, sight: Sight, key: CellKey, number: int | None = None) -> None:
        super().__init__()
        self._sight = sight
        self._key = key
        self._number = number
        self._subject = key[0]
        self._shelf = RowShelf(sight.layout.ledger)
        self._state: RunState = sight.feed.state
        self._rows = -1
        self._attempts: list[TaskAttempt] = []
        self._shown: tuple[TaskAttempt | None, AttemptRow | None] = (None, None)
        self._documents: list[Document] = []
        self._tab = ""
        self._fetching = False

    def compose(self) -> ComposeResult:
        glyphs = self._sight.glyphs
        yield Crumbs(self._subject, "crumbs", glyphs=glyphs)
        yield HeadLine("head")
        with Horizontal(id="task-body"):
            with Vertical(id="left"):
                yield AttemptsTable(self._cells, glyphs, "attempts")
                yield Resources(id="resources-side")
            yield FilePane(glyphs, "pane")
        yield Hints("task-hints", ascii_only=self._sight.ascii_only)

    def on_mount(self) -> None:
        self.query_one("#resources-side").border_title = Content("Resources")
        self.query_one("#search").display = False
        self._take_state()
        self._second()
        self._table.focus()
        self.set_interval(TICK_S, self._tick)
        self.set_interval(1.0, self._second)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < LEAST_WIDTH or event.size.height < LEAST_HEIGHT, "-too-small")
        if self._attempts:
            self._show_texts()

    @property
    def _table(self) -> AttemptsTable:
        return self.query_one("#attempts", AttemptsTable)

    @property
    def _pane(self) -> FilePane:
        return self.query_one("#pane", FilePane)

    @property
    def _view(self) -> FileView:
        return self._pane.view

    @property
    def _chosen(self) -> TaskAttempt | None:
        return self._table.chosen

    @property
    def _row(self) -> AttemptRow | None:
        chosen = self._chosen
        return self._shelf.get(chosen.offset) if chosen is not None else None

    @property
    def _beside(self) -> bool:
        """Whether the resources have a place of their own."""
        return self.size.width >= SIDE_WIDTH and self.size.height >= SIDE_HEIGHT

    def _cells(self, attempt: TaskAttempt) -> Cells:
        row = self._shelf.get(attempt.offset)
        return cells_of(attempt, row, self._state, self._sight.clock(), self._sight.glyphs)

    def _tick(self) -> None:
        self._view.look()
        state = self._sight.feed.state
        if state is not self._state or state.rows != self._rows:
            self._take_state()
        self._fetch()

    def _second(self) -> None:
        """What changes with time alone."""
        now, quiet = self._sight.clock(), self._sight.feed.quiet_s
        self.query_one("#crumbs", Crumbs).show(facts(self._state, now, linked=self._sight.linked(), quiet_s=quiet))
        if any(one.running is not None for one in self._attempts):
            self._table.redraw()
        self._pane.show_title(now)

    def _take_state(self) -> None:
        """The attempts as they are now; what is drawn stays unless it has changed."""
        state = self._sight.feed.state
        if state is not self._state:
            self._shelf.clear()
            self._state, self._shown = state, (None, None)
        self._rows = state.rows
        found = attempts_of(state, self._subject)
        if found != self._attempts:
            first = telling(found, self._key, self._number) if not self._attempts else None
            self._attempts = found
            self._table.show(found, first.name if first is not None else None)
            self._show_frame()
        self._show_head()
        self._show_attempt()

    def _show_head(self) -> None:
        sentences = task_sentences(self._state, self._subject, _signs(self._sight.glyphs))
        self.query_one("#head", HeadLine).show(sentences)

    def _show_frame(self) -> None:
        table, kinds = self._table, Counter(one.kind for one in self._attempts)
        extra = "".join(f" + {kinds[kind]} {kind}" for kind in ("replaced", "probe", "rerun", "warmup") if kinds[kind])
        title = Content(f"Attempts {kinds['planned']}{extra}")
        subtitle = Content("j k attempt   h l same attempt, other environment")
        table.border_title = title
        table.border_subtitle = subtitle

    def _show_attempt(self) -> None:
        """The texts, notes and resources of the attempt under the cursor, where it or its row is another one now."""
        now = (self._chosen, self._row)
        if now == self._shown or self._chosen is None:
            return
        before = self._shown[0]
        if before is None or before.name != self._chosen.name:
            self._view.frozen = False
        self._shown = now
        self._documents = documents(self._state, self._sight.layout, self._chosen, self._row)
        self._show_texts()

    def _show_texts(self) -> None:
        chosen, row = self._chosen, self._row
        if chosen is None:
            return
        name = self._tab or opening(self._documents, chosen, row)
        self._pane.show(self._documents, name, with_resources=not self._beside)
        self.query_one("#resources-side").display = self._beside
        self._pane.show_notes(self._notes(chosen, row), 8 if self._beside else 3)
        self._show_resources(chosen, row)

    def _notes(self, chosen: TaskAttempt, row: AttemptRow | None) -> list[str]:
        notes = [fault] if (fault := self._shelf.fault(chosen.offset)) is not None else []
        if chosen.kind == "replaced":
            notes.append("replaced: this attempt was lost and run again, the newest row counts")
        elif chosen.kind != "planned":
            notes.append(f"{chosen.kind}: outside the plan, never scored")
        return notes + (attempt_notes(row) if row is not None else [])

    def _show_resources(self, chosen: TaskAttempt, row: AttemptRow | None) -> None:
        siblings = [
            Sibling(f"#{label(one)}{' old' if one.kind == 'replaced' else ''}", one.offset, one.name == chosen.name)
            for one in self._attempts
            if one.key == chosen.key and one.offset is not None
        ]

        def lines(width: int) -> list[Content]:
            if row is None:
                return [Content("measured when the attempt is done" if chosen.running else "nothing measured")]
            return resource_lines(self._state, row, siblings, self._shelf.get, width, self._sight.glyphs)

        for name in ("#resources-side", "#resources-tab"):
            self.query_one(name, Resources).show(lines)

    def _fetch(self) -> None:
        """Read the rows that are looked at, one read at a time."""
        if self._fetching or self._chosen is None:
            return
        cell = [one for one in self._attempts if one.key == self._chosen.key]
        wanted = self._shelf.missing(one.offset for one in [self._chosen, *self._table.on_screen, *cell[:64]])
        if wanted:
            self._fetching = True
            self.run_worker(self._read(list(dict.fromkeys(wanted))), group="rows")

    async def _read(self, offsets: list[int]) -> None:
        try:
            await self._shelf.fetch(offsets)
        finally:
            self._fetching = False
        self._table.redraw()
        self._show_attempt()
        if self._chosen is not None:
            self._show_resources(self._chosen, self._row)

    def _say(self, message: str, severity: SeverityLevel = "information") -> None:
        self.notify(safe.text(message), severity=severity, markup=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane: tuple[keys.Scope, ...] = ("task", "attempts") if event.widget is self._table else ("task",)
        self.query_one("#task-hints", Hints).show("app", *pane)

    @on(AttemptsTable.Chosen)
    def _attempt_chosen(self) -> None:
        self._show_attempt()
        self._fetch()

    @on(AttemptsTable.Opened)
    def _attempt_opened(self) -> None:
        self._focus_text()

    def _focus_text(self) -> None:
        resources = self._pane.open_name == RESOURCES
        (self.query_one("#resources-tab") if resources else self._view).focus()

    @on(FilePane.TabClicked)
    def _tab_clicked(self, event: FilePane.TabClicked) -> None:
        self._open_tab(event.name)

    def _open_tab(self, name: str) -> None:
        self._tab = name
        inside = self.focused is not None and self._pane in self.focused.ancestors
        self._view.frozen = False
        self._show_texts()
        if inside:
            self._focus_text()

    def action_tab_shift(self, step: int) -> None:
        self._open_tab(self._pane.shifted(step))

    @on(FileView.ViewChanged)
    def _view_changed(self) -> None:
        self._pane.show_title(self._sight.clock())

    def action_wrap(self) -> None:
        self._view.toggle_wrap()

    def action_follow(self) -> None:
        """Freeze a growing log where it is; frozen or scrolled up, follow again."""
        if self._view.source is None or not self._view.source.growing:
            self._say("This text is complete: there is nothing to follow.")
            return
        self._view.freeze(self._view.following)
        if not self._view.frozen:
            self._show_texts()

    def action_zoom(self) -> None:
        """The pane with the focus alone, or all of them again."""
        zoomed = self.has_class("-zoom-text") or self.has_class("-zoom-attempts")
        inside = self.focused is not None and self._pane in self.focused.ancestors
        self.set_class(not zoomed and inside, "-zoom-text")
        self.set_class(not zoomed and not inside, "-zoom-attempts")

    def action_search(self) -> None:
        if self._pane.open_name == RESOURCES:
            self._say("There is no text to search here: [ goes to the texts.")
            return
        line = self.query_one("#search", SearchLine)
        line.display = True
        line.focus()

    @on(SearchLine.Submitted)
    def _search_typed(self, event: SearchLine.Submitted) -> None:
        self._close_search()
        self._view.seek(event.value)

    @on(SearchLine.Abandoned)
    def _close_search(self) -> None:
        self.query_one("#search").display = False
        self._focus_text()

    @on(FileView.Searched)
    def _searched(self, event: FileView.Searched) -> None:
        self._pane.show_title(self._sight.clock())
        if event.hit is None:
            self._say(f"{event.text[:TOAST_TEXT]}: not in this text", "warning")

    def action_next(self, direction: int) -> None:
        if self._view.sought is not None and self._view.display:
            self._view.seek_next(forward=direction > 0)
        elif not self._table.go_to_telling(direction):
            self._say("No other attempt of this task failed or is void.")

    def action_back(self) -> None:
        """End the search, then the zoom, then leave."""
        if self._view.sought is not None:
            self._view.seek("")
        elif self.has_class("-zoom-text") or self.has_class("-zoom-attempts"):
            self.remove_class("-zoom-text", "-zoom-attempts")
        else:
            self.dismiss()

    @work(group="outside")
    async def action_copy(self) -> None:
        """Ask what to copy, then say what was."""
        chosen = self._chosen
        what: What = await self.app.push_screen_wait(CopyScreen())
        if chosen is None or not what:
            return
        try:
            text = copied(what, self._sight.layout, chosen, self._row, self._document)
        except TuiBenchError as error:
            self._say(str(error), "warning")
            return
        self.app.copy_to_clipboard(text)
        self._say(f"Copied {what}, {len(text)} characters: {text[:TOAST_TEXT]}")

    @property
    def _document(self) -> Document | None:
        return next((one for one in self._documents if one.name == self._pane.open_name), None)

    @property
    def _outside(self) -> Outside:
        return Outside(self.app, self._sight.again)

    @work(group="outside", exclusive=True)
    async def action_edit(self) -> None:
        """A copy of the open text in an editor."""
        await self._lend(edit=True)

    @work(group="outside", exclusive=True)
    async def action_page_out(self) -> None:
        """The open text in a pager."""
        await self._lend(edit=False)

    async def _lend(self, *, edit: bool) -> None:
        document = self._document
        source = document.source if document is not None else None
        if document is None or source is None or source.lines is None or source.lines.status() is None:
            self._say("There is no text to open here.", "warning")
            return
        name = source.path.name if source.path is not None else f"{document.name}.json"
        try:
            if edit:
                await self._outside.edit(source.lines, name)
            else:
                await self._outside.page(source.lines, from_start=source.from_start)
        except TuiBenchError as error:
            self._say(str(error), "warning")

    @work(group="outside", exclusive=True)
    async def action_shell(self) -> None:
        """A shell in a fresh copy of the attempt's tree; where there can be none, in its files, if one wants that."""
        chosen, row = self._chosen, self._row
        if chosen is None:
            return
        task, env, agent = chosen.key
        said = " ".join(filter(None, (task, agent, env, f"#{label(chosen)}")))
        try:
            if self._sight.trees is None:
                raise UsageError("the study of this run is not known here")
            patch = file_of(self._sight.layout, row, "patch")
            self._say(await self._outside.shell(self._sight.trees, task, env, patch, said))
        except TuiBenchError as error:
            await self._offer_files(str(error))

    async def _offer_files(self, why: str) -> None:
        path = next((one.source.path for one in self._documents if one.name != PROMPT and one.source.path), None)
        if path is None or not path.parent.is_dir():
            self._say(f"No copy of the tree: {why}", "warning")
            return
        lines = [safe.line(f"No copy of the tree: {why}."), Content("Open a shell in the attempt's files instead?")]
        try:
            if await self.app.push_screen_wait(ConfirmScreen(Content("Shell in the record?"), lines)):
                await self._outside.shell_in(path.parent)
        except TuiBenchError as error:
            self._say(str(error), "warning")


def _signs(glyphs: Glyphs) -> list[str]:
    return [glyphs.verdict(code) for code in Code]
