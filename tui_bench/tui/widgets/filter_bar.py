"""The line above a list in which its filter is typed. Every keystroke filters; escape brings back what was before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui_bench.tui import keys, safe
from tui_bench.tui.filter import EVERYTHING, LONGEST, SYNTAX, Filter, FilterError, parse_filter


class FilterInput(Input):
    """A line of clean text: what is pasted cannot drive the terminal either."""

    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("filter")

    class Abandoned(Message):
        """Escape was pressed."""

    def on_mount(self) -> None:
        # A screen gives its first keys to whatever can take them; a filter takes them only when it is opened.
        self.can_focus = False

    def validate_value(self, value: str) -> str:
        return safe.text(value, LONGEST)

    def action_abandon(self) -> None:
        self.post_message(self.Abandoned())


class FilterBar(Horizontal):
    """`filter` in words and how much it finds; `say` sets the count. The list is told by `Changed` and `Left`."""

    @dataclass
    class Changed(Message):
        """Another filter holds."""

        filter: Filter

    class Left(Message):
        """Typing is over: the list takes the keys again."""

    def __init__(self, id: str | None = None, *, syntax: str = SYNTAX) -> None:
        super().__init__(id=id)
        self._syntax = syntax
        self.filter: Filter = EVERYTHING
        self._before = ""
        self._count = Content("")
        self._error = ""

    def compose(self) -> ComposeResult:
        yield Static("filter", classes="filter-label", markup=False)
        yield Static("", classes="filter-value", markup=False)
        yield FilterInput(compact=True, classes="filter-input", placeholder=self._syntax, select_on_focus=False)
        yield Static("", classes="filter-count", markup=False)

    def on_mount(self) -> None:
        self._show()

    @property
    def editing(self) -> bool:
        """Whether it is being typed in."""
        return self.has_class("-editing")

    @property
    def _input(self) -> FilterInput:
        return self.query_one(FilterInput)

    def open(self) -> None:
        """Take the keys."""
        self._before = self._input.value
        self.add_class("-editing")
        self._input.can_focus = True
        self._input.focus()
        self._input.cursor_position = len(self._before)

    def clear(self) -> None:
        """Show everything again."""
        self._input.value = ""

    def say(self, count: Content) -> None:
        """How much the filter finds."""
        if not count.is_same(self._count):
            self._count = count
            self._show()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        try:
            found = parse_filter(event.value)
        except FilterError as error:
            self._error = safe.text(str(error))
        else:
            self._error = ""
            if found != self.filter:
                self.filter = found
                self.post_message(self.Changed(found))
        self._show()

    @on(Input.Submitted)
    def _kept(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._error:
            self._leave()

    @on(FilterInput.Abandoned)
    def _abandoned(self, event: FilterInput.Abandoned) -> None:
        event.stop()
        self._input.value = self._before
        self._leave()

    def _leave(self) -> None:
        self.remove_class("-editing")
        self._input.can_focus = False
        self._show()
        self.post_message(self.Left())

    def _show(self) -> None:
        if not self.is_attached:
            return
        nothing = (f"none   / {self._syntax}", "$bench-muted")
        shown = (safe.text(str(self.filter)), "$accent") if self.filter else nothing
        self.query_one(".filter-value", Static).update(Content.assemble(shown))
        count = (self._error, "$bench-fail") if self._error else self._count
        self.query_one(".filter-count", Static).update(Content.assemble(count))
