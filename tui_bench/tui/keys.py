"""The one table of keys: bindings, footer and help are all made from it, so none of them can drift.

Lower case looks; upper case changes a view's scope or writes something. A key means one thing on a screen. `Key.id` is
the binding's id, so a keymap can move it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Scope = Literal[
    "app", "run", "pane", "grid", "log", "task", "attempts", "search", "copy",
    "help", "quit", "confirm", "views", "ledger", "rows", "filter", "home",
    "start", "notice",
]
Group = Literal["MOVE", "LOOK", "RUN"]


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table. `keys` are Textual's names, comma separated; `label` is what a person reads.

    `short` stands in the footer, at most 9 cells; `rank` orders what is cut first (high) and 0 keeps it out of it.
    """

    id: str
    keys: str
    label: str
    scope: Scope
    group: Group
    action: str
    short: str
    tooltip: str
    rank: int = 0
    ascii_label: str = ""
    priority: bool = False

    def shown(self, ascii_only: bool) -> str:
        """The label that the terminal can draw."""
        return self.ascii_label or self.label if ascii_only else self.label


KEYS: tuple[Key, ...] = (
    Key("help", "question_mark,f1", "?", "app", "LOOK", "app.help", "help", "keys and signs of this screen", 1),
    Key("move.down", "down,j", "j ↓", "pane", "MOVE", "move(0, 1)", "down", "down one row", 0, "j down"),
    Key("move.up", "up,k", "k ↑", "pane", "MOVE", "move(0, -1)", "up", "up one row", 0, "k up"),
    Key("move.left", "left,h", "h ←", "pane", "MOVE", "move(-1, 0)", "left", "left one column", 0, "h left"),
    Key("move.right", "right,l", "l →", "pane", "MOVE", "move(1, 0)", "right", "right one column", 0, "l right"),
    Key("move.first", "g,home", "g home", "pane", "MOVE", "edge(-1)", "first", "first row, start of the log"),
    Key("move.last", "G,end", "G end", "pane", "MOVE", "edge(1)", "last", "last row, end of the log"),
    Key("move.page_down", "pagedown,ctrl+d", "^d PgDn", "pane", "MOVE", "page(1)", "page", "one page down"),
    Key("move.page_up", "pageup,ctrl+u", "^u PgUp", "pane", "MOVE", "page(-1)", "page", "one page up"),
    Key("pane.next", "tab", "tab", "run", "MOVE", "app.focus_next", "pane", "next pane", 9),
    Key("pane.previous", "shift+tab", "shift+tab", "run", "MOVE", "app.focus_previous", "pane", "previous pane"),
    Key("cell.open", "enter", "⏎", "grid", "LOOK", "open", "open", "open this cell's task", 3, "enter"),
    Key("run.back", "escape", "esc", "run", "MOVE", "back", "back", "to the grid, all panes, all rows", 8),
    Key("grid.filter", "slash", "/", "run", "LOOK", "filter", "filter", "filter rows by task, env, void", 5),
    Key("grid.sort", "s", "s", "run", "LOOK", "sort", "sort", "next order; cursor keeps its row", 9),
    Key("grid.next", "n", "n", "run", "MOVE", "notable(1)", "next", "next flip, void, flaky, unequal", 4),
    Key("grid.previous", "N", "N", "run", "MOVE", "notable(-1)", "previous", "the one before"),
    Key("cell.figure", "v", "v", "run", "LOOK", "figure", "cell", "cell: verdict, rate, wall, tokens", 9),
    Key("pane.zoom", "z", "z", "run", "LOOK", "zoom", "zoom", "this pane alone, or all again", 10),
    Key("tab.previous", "left_curly_bracket", "{", "run", "LOOK", "tab_shift(-1)", "tab", "previous tab below"),
    Key("tab.next", "right_curly_bracket", "}", "run", "LOOK", "tab_shift(1)", "tab",
        "next tab: void, controls, tally", 7),
    Key("palette", "ctrl+p,colon", "^p", "app", "LOOK", "app.command_palette", "commands",
        "every command by its name", 8),
    Key("attempt.previous", "left_square_bracket", "[", "run", "LOOK", "log_shift(-1)", "prev", "previous log here"),
    Key("attempt.next", "right_square_bracket", "]", "run", "LOOK", "log_shift(1)", "next log",
        "next log: agent, verify, then #2", 9),
    Key("log.follow", "f", "f", "run", "LOOK", "follow", "freeze", "freeze the log, or follow again", 5),
    Key("log.wrap", "w", "w", "run", "LOOK", "wrap", "wrap", "wrap long lines of the log", 9),
    Key("run.pause", "p", "p", "run", "RUN", "pause", "pause", "pause or resume starting attempts", 4),
    Key("run.more", "plus", "+", "run", "RUN", "jobs(1)", "jobs", "one more attempt at a time", 11),
    Key("run.fewer", "minus", "-", "run", "RUN", "jobs(-1)", "jobs", "one attempt less at a time"),
    Key("attempt.stop", "x", "x", "run", "RUN", "stop_attempt", "stop one", "stop this attempt: void; asks", 10),
    Key("attempt.probe", "r", "r", "run", "RUN", "probe", "probe", "this attempt again, never scored", 9),
    Key("run.rerun_flips", "R", "R", "run", "RUN", "rerun_flips", "re-run", "fresh attempts of all flips; asks", 9),
    Key("run.stop", "X", "X", "run", "RUN", "stop_run", "stop", "stop the run; asks first", 6),
    Key("view.screenshot", "ctrl+s", "^s", "app", "RUN", "app.save_picture", "picture", "screenshot as SVG file", 10),
    Key("view.suspend", "ctrl+z", "^z", "app", "RUN", "app.suspend_process", "suspend", "suspend the view only", 11),
    Key("view.quit", "q", "q", "run", "RUN", "app.ask_quit", "quit", "quit; with work running it asks", 2),
    Key("view.leave", "ctrl+q", "^q", "app", "RUN", "app.leave", "leave", "leave at once; the runner goes on",
        0, "", True),
    Key("view.interrupt", "ctrl+c", "^c", "app", "RUN", "app.interrupt", "copy", "copy what is selected, else like q",
        0, "", True),
    Key("view.ledger", "6", "6", "run", "LOOK", "app.show_ledger", "ledger", "every row of the ledger", 12),
    Key("view.home", "0", "0", "views", "MOVE", "app.show_home", "home", "recent runs; start one", 13),
    Key("rows.open", "enter", "⏎", "rows", "LOOK", "open", "attempt", "open the attempt of this row", 3, "enter"),
    Key("ledger.filter", "slash", "/", "ledger", "LOOK", "filter", "filter", "filter rows", 4),
    Key("ledger.follow", "f", "f", "ledger", "LOOK", "follow", "follow", "follow the newest row, or stay", 6),
    Key("ledger.order", "s", "s", "ledger", "LOOK", "order", "order", "newest first, or ledger order", 9),
    Key("ledger.bad", "b", "b", "ledger", "LOOK", "bad", "bad", "damaged rows only", 5),
    Key("ledger.earlier", "less_than_sign", "<", "ledger", "MOVE", "linked(-1)", "start",
        "to its start, or what it replaces", 8),
    Key("ledger.later", "greater_than_sign", ">", "ledger", "MOVE", "linked(1)", "result",
        "to its result, or what replaced it", 7),
    Key("ledger.copy", "y", "y", "ledger", "LOOK", "copy", "copy", "copy the row's JSON", 10),
    Key("ledger.pane", "tab", "tab", "ledger", "MOVE", "app.focus_next", "pane", "list or whole row", 11),
    Key("ledger.run", "1", "1", "ledger", "MOVE", "app.show_run", "run", "back to the grid", 12),
    Key("ledger.back", "escape", "esc", "ledger", "MOVE", "back", "back", "clear the filter, then back", 2),
    Key("ledger.quit", "q", "q", "ledger", "RUN", "app.ask_quit", "quit", "quit; with work running it asks", 2),
    Key("filter.keep", "enter", "⏎", "filter", "LOOK", "submit", "keep", "keep this filter", 1, "enter"),
    Key("filter.abandon", "escape", "esc", "filter", "LOOK", "abandon", "undo", "the filter that was before", 1),
    Key("task.open", "enter", "⏎", "attempts", "LOOK", "open", "read", "to the texts of this attempt", 12, "enter"),
    Key("task.tab_previous", "left_square_bracket", "[", "task", "LOOK", "tab_shift(-1)", "tab",
        "previous text of the attempt", 3),
    Key("task.tab_next", "right_square_bracket", "]", "task", "LOOK", "tab_shift(1)", "tab",
        "next text: logs, prompt, row", 3),
    Key("task.pane_next", "tab", "tab", "task", "MOVE", "app.focus_next", "pane", "attempts or text", 4),
    Key("task.pane_previous", "shift+tab", "shift+tab", "task", "MOVE", "app.focus_previous", "pane", "previous pane"),
    Key("task.search", "slash", "/", "task", "LOOK", "search", "search", "search in this text", 5),
    Key("task.next", "n", "n", "task", "MOVE", "next(1)", "next", "next match; else next fail or void", 9),
    Key("task.previous", "N", "N", "task", "MOVE", "next(-1)", "previous", "the one before"),
    Key("task.follow", "f", "f", "task", "LOOK", "follow", "freeze", "freeze a growing log, or follow", 13),
    Key("task.wrap", "w", "w", "task", "LOOK", "wrap", "wrap", "wrap long lines", 10),
    Key("task.zoom", "z", "z", "task", "LOOK", "zoom", "zoom", "this pane alone, or all again", 8),
    Key("task.copy", "y", "y", "task", "LOOK", "copy", "copy", "copy row, path, command or diff", 6),
    Key("task.editor", "e", "e", "task", "LOOK", "edit", "editor", "a copy of this text in $EDITOR", 11),
    Key("task.pager", "o", "o", "task", "LOOK", "page_out", "pager", "this text, cleaned, in $PAGER", 11),
    Key("task.shell", "exclamation_mark", "!", "task", "LOOK", "shell", "shell", "shell in a fresh copy of its tree",
        7),
    Key("task.back", "escape,q", "esc", "task", "MOVE", "back", "back", "end the search, then back", 2),
    Key("search.abandon", "escape", "esc", "search", "MOVE", "abandon", "close", "close the search line", 1),
    Key("copy.row", "r", "r", "copy", "LOOK", "answer('row')", "row", "the row as JSON", 1),
    Key("copy.path", "p", "p", "copy", "LOOK", "answer('path')", "path", "path of the text that is open", 2),
    Key("copy.command", "c", "c", "copy", "LOOK", "answer('command')", "command", "the verify command", 3),
    Key("copy.diff", "d", "d", "copy", "LOOK", "answer('diff')", "diff", "the agent's change", 4),
    Key("copy.nothing", "escape,q", "esc", "copy", "MOVE", "answer('')", "close", "copy nothing", 5),
    Key("home.open", "enter", "⏎", "home", "LOOK", "open", "open", "open this run", 1, "enter"),
    Key("home.start", "s", "s", "home", "RUN", "start", "start", "start a study; checked first", 3),
    Key("home.resume", "u", "u", "home", "RUN", "resume", "resume", "go on with a lost or stopped run", 4),
    Key("home.filter", "slash", "/", "home", "LOOK", "filter", "filter", "filter runs by any text", 5),
    Key("home.back", "escape", "esc", "home", "MOVE", "back", "back", "clear the filter, then back", 6),
    Key("home.quit", "q", "q", "home", "RUN", "app.ask_quit", "quit", "quit; runs go on", 2),
    Key("start.check", "enter", "⏎", "start", "LOOK", "check", "check", "check the study, show its plan", 1, "enter"),
    Key("start.more", "plus", "+", "start", "RUN", "change(1)", "more", "one more of the chosen number", 4),
    Key("start.less", "minus", "-", "start", "RUN", "change(-1)", "less", "one less", 5),
    Key("start.go", "S", "S", "start", "RUN", "go", "start", "start it in the background", 2),
    Key("start.back", "escape,q", "esc", "start", "MOVE", "back", "back", "back without starting", 3),
    Key("help.close", "escape,q", "esc", "help", "MOVE", "dismiss", "close", "close help", 1),
    Key("quit.detach", "d,enter", "d", "quit", "RUN", "answer('detach')", "detach", "leave; the runner goes on", 1),
    Key("quit.stop", "s", "s", "quit", "RUN", "answer('stop')", "stop run", "stop the run, then leave", 2),
    Key("quit.stay", "escape,q", "esc", "quit", "RUN", "answer('stay')", "stay", "back to the screen", 3),
    Key("notice.close", "escape,enter,q", "esc", "notice", "RUN", "dismiss", "close", "back to the screen", 1),
    Key("confirm.yes", "y", "y", "confirm", "RUN", "answer(True)", "yes", "do it", 1),
    Key("confirm.no", "escape,n,q", "esc", "confirm", "RUN", "answer(False)", "no", "leave things as they are", 2),
)  # fmt: skip
"""Every key this program binds."""

SCREENS: dict[str, tuple[Scope, ...]] = {
    "run": ("app", "run", "views", "pane", "grid", "log"),
    "ledger": ("app", "ledger", "views", "pane", "rows"),
    "home": ("app", "home", "pane"),
    "start": ("app", "start", "pane"),
    "filter": ("filter",),
    "search": ("search",),
    "task": ("app", "task", "pane", "attempts"),
    "copy": ("copy",),
    "help": ("app", "pane", "help"),
    "quit": ("quit",),
    "confirm": ("confirm",),
    "notice": ("notice",),
}
"""Which scopes are live together."""


def of(*scopes: Scope) -> tuple[Key, ...]:
    """The keys of these scopes in table order."""
    return tuple(key for key in KEYS if key.scope in scopes)


def bindings(*scopes: Scope) -> list[BindingType]:
    """Textual bindings of these scopes, for a class's BINDINGS."""
    return [
        Binding(key.keys, key.action, key.short, show=False, tooltip=key.tooltip, id=key.id, priority=key.priority)
        for key in of(*scopes)
    ]


def footer(keys: Iterable[Key], width: int, ascii_only: bool) -> list[tuple[Key, str]]:
    """Hints that fit into `width` cells, in table order; those of the highest rank are left out first."""
    ranked = sorted((key for key in keys if key.rank), key=lambda key: key.rank)
    chosen: list[tuple[Key, str]] = []
    used = 1
    for key in ranked:
        hint = f"{key.shown(ascii_only)} {key.short}"
        if used + len(hint) + 2 > width:
            break
        chosen.append((key, hint))
        used += len(hint) + 2
    return sorted(chosen, key=lambda found: KEYS.index(found[0]))


PAGES: dict[str, str] = {
    "run": "The run", "task": "One task", "ledger": "The ledger", "home": "Recent runs", "start": "Starting a study",
    "filter": "Typing a filter", "search": "Searching in a text", "copy": "Copying", "help": "Help",
    "quit": "Leaving while a run goes on", "confirm": "A question", "notice": "A notice",
}  # fmt: skip
"""Titles of the screens in the page of keys, in its order."""


INTRODUCTION = """\
# Keys

Made from the key table: `python -m tui_bench.tui.keys > docs/keys.md`. Lower case looks, upper case changes something;
what costs is asked first. `^p` lists every action of a screen by its name. The mouse works everywhere and is never
needed.
"""


def page() -> str:
    """All keys in Markdown: what is bound everywhere once, then what each screen adds."""
    everywhere = of("app")
    parts = [INTRODUCTION, _listed("Everywhere", everywhere)]
    for name, title in PAGES.items():
        parts.append(_listed(title, [key for key in of(*SCREENS[name]) if key not in everywhere]))
    return "\n".join(parts)


def _listed(title: str, keys: Iterable[Key]) -> str:
    rows = "".join(f"| {_cell(key.label)} | {key.tooltip} |\n" for key in keys)
    return f"## {title}\n\n| key | what it does |\n|---|---|\n{rows}"


def _cell(label: str) -> str:
    """A label as code; a bar would end the cell."""
    return f"`{label}`".replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
