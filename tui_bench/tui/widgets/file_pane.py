"""The right half of the task screen: tabs in its frame, what is to be said of the attempt, and the text itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui_bench.tui import safe
from tui_bench.tui.diff_summary import DiffSummary, summarize
from tui_bench.tui.documents import DIFF, Document
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.log_title import log_hint
from tui_bench.tui.widgets.file_view import FileView
from tui_bench.tui.widgets.log_tail import LogSource
from tui_bench.tui.widgets.resources import Resources
from tui_bench.tui.widgets.search_line import SearchLine

RESOURCES = "resources"
"""Name of the tab that is no text."""
FILES_MOST = 6


class FilePane(Vertical):
    """Shows one `Document`, or the resources. The frame holds the tabs; a click on one opens it."""

    @dataclass
    class TabClicked(Message):
        """A person wants this tab."""

        name: str

    def __init__(self, glyphs: Glyphs, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._tabs: list[tuple[str, str]] = []
        self._open = ""
        self._frame: tuple[Content, Content] = (Content(""), Content(""))
        self._summary: DiffSummary | None = None
        self._summary_of: LogSource | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="notes", markup=False)
        yield Static("", id="files", markup=False)
        yield FileView("file")
        yield Resources(id="resources-tab")
        yield SearchLine("search")

    @property
    def view(self) -> FileView:
        return self.query_one("#file", FileView)

    @property
    def open_name(self) -> str:
        """Name of the tab that is open."""
        return self._open

    def show(self, found: list[Document], name: str, *, with_resources: bool) -> None:
        """Offer these texts and open the one of this name, else the first."""
        self._tabs = [(one.name, one.title) for one in found]
        if with_resources:
            self._tabs.append((RESOURCES, "Resources"))
        names = [tab for tab, _ in self._tabs]
        self._open = name if name in names else names[0]
        on_resources = self._open == RESOURCES
        self.query_one("#resources-tab").display = on_resources
        self.view.display = not on_resources
        document = next((one for one in found if one.name == self._open), None)
        if document is not None:
            self.view.show(document.source)
            self._count_diff(document)
        self.query_one("#files").display = not on_resources and self._open == DIFF and self._summary is not None
        self.show_title()

    def shifted(self, step: int) -> str:
        """Name of the next or previous tab; the first and the last have none beyond."""
        names = [tab for tab, _ in self._tabs]
        at = names.index(self._open) if self._open in names else 0
        return names[max(0, min(at + step, len(names) - 1))] if names else ""

    def show_notes(self, notes: list[str], most: int) -> None:
        """Sentences about the attempt above its text, each cleaned; at most so many."""
        box = self.query_one("#notes", Static)
        kept = notes[:most]
        box.display = bool(kept)
        box.update(Content("\n").join([_toned(note) for note in kept]))

    def show_title(self, now: float = 0.0) -> None:
        """Tabs and what the view is doing; setting the frame draws it, so the same one is not set again."""
        parts = [Content.assemble((title, "bold reverse" if name == self._open else "")) for name, title in self._tabs]
        title = Content(f" {self._glyphs.rule} ").join(parts)
        subtitle = self._subtitle(now)
        if not (title.is_same(self._frame[0]) and subtitle.is_same(self._frame[1])):
            self._frame = (title, subtitle)
            self.border_title = title
            self.border_subtitle = subtitle

    def _subtitle(self, now: float) -> Content:
        if self._open == RESOURCES:
            return Content("")
        hint = log_hint(self.view, now, self._glyphs)
        if self._open == DIFF:
            hint = self._diff_words() if self._summary is not None else Content("")
        parts = [part for part in (self._search_words(), hint) if part.plain]
        return Content(f" {self._glyphs.separator} ").join(parts)

    def _search_words(self) -> Content:
        view = self.view
        if view.sought is None:
            return Content("")
        said = Content.assemble("/", safe.text(view.sought.text, 24))
        if view.hit is None:
            return said
        place = f" {view.hit.number} of {view.hit.total}" if view.hit.number is not None else ""
        return Content.assemble(said, place, " from the other end" if view.hit.round else "")

    def _diff_words(self) -> Content:
        assert self._summary is not None
        count = len(self._summary.files)
        more = "" if self._summary.whole else " and more"
        return Content.assemble(
            f"{count} file{'' if count == 1 else 's'}{more} ", (f"+{self._summary.added}", "$bench-pass"), " ",
            (f"-{self._summary.removed}", "$bench-fail"),
        )  # fmt: skip

    def _count_diff(self, document: Document) -> None:
        """Count a diff once, in a thread."""
        source = document.source
        if document.name != DIFF or source == self._summary_of:
            return
        self._summary_of, self._summary = source, None
        if source.lines is not None and source.path is not None and source.path.is_file():
            self.run_worker(self._summarize(source), group="summary", exclusive=True)

    async def _summarize(self, source: LogSource) -> None:
        assert source.lines is not None
        found = await asyncio.to_thread(summarize, source.lines)
        if source == self._summary_of:
            self._summary = found
            self._show_files(found)
            self.show_title()

    def _show_files(self, found: DiffSummary) -> None:
        """The list of files; a single one stands in the diff's own first line."""
        box = self.query_one("#files", Static)
        shown = found.files[:FILES_MOST] if len(found.files) > 1 else ()
        lines = [
            Content.assemble((f"+{one.added:<4}", "$bench-pass"), (f"-{one.removed:<4} ", "$bench-fail"), name)
            for one in shown
            if (name := safe.text(one.name, 200))
        ]
        if len(found.files) > FILES_MOST:
            lines.append(Content.assemble((f"and {len(found.files) - FILES_MOST} more files", "$bench-muted")))
        box.update(Content("\n").join(lines))
        box.display = bool(lines) and self._open == DIFF

    def on_click(self, event: events.Click) -> None:
        """Tabs stand in the upper border, from its third cell on."""
        if event.y != 0:
            return
        at = 2
        for name, title in self._tabs:
            if at <= event.x < at + len(title):
                self.post_message(self.TabClicked(name))
                return
            at += len(title) + 3


def _toned(note: str) -> Content:
    """A sentence; its first word carries the weight."""
    clean = safe.text(note)
    for word, colour in (("void", "$bench-void"), ("fail", "$bench-fail"), ("flaky", "$bench-fail")):
        if clean.startswith(word):
            return Content.assemble((word, f"bold {colour}"), clean.removeprefix(word))
    if clean.startswith("what to do:"):
        return Content.assemble(("what to do:", "bold"), clean.removeprefix("what to do:"))
    return Content(clean)
