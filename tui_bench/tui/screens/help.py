"""Keys and signs of a screen, made from the key table and the glyph set, so they cannot drift from either."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui_bench.tui import keys
from tui_bench.tui.glyphs import Glyphs

TITLES: dict[keys.Group, str] = {"MOVE": "Move", "LOOK": "Look", "RUN": "Run"}
GATE_WORDS = (
    ("GATE OPEN", "no more tasks flip with the environment than the registered limit allows"),
    ("GATE SHUT", "more tasks flip than the limit allows"),
    ("GATE ...", "pairs are missing: what may still happen stands beside it"),
    ("NO EVIDENCE", "there is no complete pair"),
    ("NO VERDICT", "too few pairs are scored"),
    ("UNINFORMATIVE", "nothing passed anywhere, so nothing could flip"),
    ("CONFOUNDED", "the environments differ in more than the study names"),
    ("FLAKY TEST", "one tree, one environment, different verdicts: mend the test first"),
    ("STOPPED", "too many voids, or the record is damaged: nothing is ranked"),
)
NOTES = (
    ("void", "the instrument broke or a rule was broken; no fail, and outside every rate"),
    ("flip", "an agent's first attempt passes in one environment and fails in another"),
    ("unequal", "the agents' first attempts differ in the same environment"),
    ("excess", "how much more verdicts differ across environments than within one"),
    ("oracle", "the hidden test that decides a task"),
    ("excluded", "the task tests nothing here: untouched it passes, or its verify is broken"),
)


class HelpScreen(ModalScreen[None]):
    """Scrolls where it does not fit."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.bindings("pane", "help")

    def __init__(
        self, glyphs: Glyphs, ascii_only: bool, files: list[tuple[str, Content]], subject: str = "run"
    ) -> None:
        super().__init__()
        self._subject = subject
        self._glyphs = glyphs
        self._ascii = ascii_only
        self._files = files

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = Content(f"Help: {self._subject}")
            box.border_subtitle = Content("esc closes")
            with Horizontal(id="help-keys"):
                for group in TITLES:
                    yield Static(self._keys(group), classes="help-group", markup=False)
            yield Static(self._signs(), markup=False)
            yield Static(_listed("Gate", GATE_WORDS), markup=False)
            yield Static(_listed("Words", NOTES), markup=False)
            yield Static(_files(self._files), markup=False)

    def _keys(self, group: keys.Group) -> Content:
        rows = [key for key in keys.of(*keys.SCREENS[self._subject]) if key.group == group]
        lines = [Content.assemble((TITLES[group], "bold $accent"))]
        for key in rows:
            label = key.shown(self._ascii)
            lines.append(Content.assemble((f"{label:<10}", "bold"), f" {key.tooltip}"))
        return Content("\n").join(lines)

    def _signs(self) -> Content:
        glyphs = self._glyphs
        shown = (
            (glyphs.passed, "pass", "bench-pass"), (glyphs.failed, "fail", "bench-fail"),
            (glyphs.void, "void", "bench-void"), (glyphs.flaky, "flaky test", "bench-fail"),
            (glyphs.running, "running", "bench-running"), (glyphs.queued, "queued", "bench-muted"),
            (glyphs.absent, "not run", "bench-muted"), (glyphs.flip, "flips with the box", "accent"),
            (glyphs.unequal, "agents unequal", "accent"),
        )  # fmt: skip
        parts = [Content.assemble((sign, f"bold ${colour}"), f" {word}") for sign, word, colour in shown]
        return Content.assemble(("Signs", "bold $accent"), "\n", Content("   ").join(parts))

    def action_move(self, columns: int, rows: int) -> None:
        self.query_one("#help").scroll_relative(y=rows, animate=False)

    def action_page(self, direction: int) -> None:
        box = self.query_one("#help")
        box.scroll_relative(y=direction * box.size.height, animate=False)

    def action_edge(self, direction: int) -> None:
        box = self.query_one("#help")
        box.scroll_to(y=0 if direction < 0 else box.max_scroll_y, animate=False)


def _listed(title: str, rows: tuple[tuple[str, str], ...]) -> Content:
    lines = [Content.assemble((title, "bold $accent"))]
    lines += [Content.assemble((f"{word:<13}", "bold"), " ", said) for word, said in rows]
    return Content("\n").join(lines)


def _files(rows: list[tuple[str, Content]]) -> Content:
    lines = [Content.assemble(("Files", "bold $accent"))]
    lines += [Content.assemble((f"{name:<13}", "bold"), " ", path) for name, path in rows]
    return Content("\n").join(lines)
