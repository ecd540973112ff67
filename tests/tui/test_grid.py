"""The grid: columns line up for any name, the cursor keeps its task, and only what changed is drawn anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Region
from tui_ledgers import Clock, attempt_row, env_row, run_row, task_row

from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.ledger.rows import AttemptRow, EventRow
from tui_bench.tui import glyphs, themes
from tui_bench.tui.board import Board, Column
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.grid_layout import ATTEMPTS_MOST, layout
from tui_bench.tui.widgets.line import fitted, fitted_middle

ODD_NAMES = ["T01_折扣规则", "cafe\u0301_NFD", "café_NFC", "👩🏽 emoji", "עברית", "x" * 200, "折" * 120, "e\u0301" * 60]


def state_of(
    tasks: list[str], envs: list[str] | None = None, agents: list[str] | None = None, attempts: int = 2
) -> RunState:
    state = RunState()
    envs, agents = envs or ["here", "there"], agents if agents is not None else ["strong", "weak"]
    rows = [run_row(agents, attempts, 0, 2), *map(task_row, tasks), *map(env_row, envs)]
    for row in rows:
        fold(state, row)
    return state


def verdict(state: RunState, task: str, env: str, agent: str | None, number: int, passed: bool | None) -> None:
    fold(state, attempt_row(task, env, agent, number, passed, verify_runs=[]))


class GridApp(App[None]):
    """A grid alone, which notes the regions it is asked to draw anew."""

    CSS = """
    Grid { height: 100%; }
    """

    def __init__(self, state: RunState, ascii_only: bool = False) -> None:
        super().__init__()
        self.drawn: list[Region] = []
        signs = glyphs.ASCII if ascii_only else glyphs.UNICODE
        self.grid = Grid(glyphs=signs, clock=Clock())
        self.board = Board(state)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.verdict_colours(True)

    def compose(self) -> ComposeResult:
        yield self.grid

    def on_mount(self) -> None:
        self.grid.show_board(self.board)
        self.grid.focus()

    def lines(self) -> list[str]:
        return [strip.text for strip in self.screen._compositor.render_strips()]


@pytest.mark.parametrize("width", [60, 80, 120, 160, 240])
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_columns_line_up_for_every_name(width: int, ascii_only: bool) -> None:
    state = state_of(ODD_NAMES, ["local-折扣", "sandbox"], ["claude 👩🏽", "codex"])
    for task in ODD_NAMES:
        verdict(state, task, "sandbox", "codex", 0, False)
    app = GridApp(state, ascii_only)
    async with app.run_test(size=(width, 14)):
        rows = app.lines()[2 : 2 + len(ODD_NAMES)]
        failed = "F" if ascii_only else "✗"
        columns = {cell_len(row[: row.rindex(failed)]) for row in rows}
        assert len(columns) == 1, rows
        assert all(cell_len(line) == width for line in app.lines())


async def test_where_agents_and_environments_are_too_many_the_cursor_reaches_all() -> None:
    envs = [f"environment-{number}" for number in range(12)]
    state = state_of(["a", "b"], envs, ["one", "two"])
    app = GridApp(state)
    async with app.run_test(size=(80, 8)) as pilot:
        assert "+20 col" in app.lines()[0]
        assert "envir…nt-0" in app.lines()[1]
        seen = set()
        for _ in range(2 * len(envs)):
            seen.add(app.grid.cursor)
            await pilot.press("l")
        assert {(key[1], key[2]) for key in seen if key} == {(env, agent) for env in envs for agent in ("one", "two")}
        assert "two" in app.lines()[0]


async def test_a_study_without_agents_has_one_header_line() -> None:
    state = state_of(["a"], agents=[])
    verdict(state, "a", "here", None, 0, True)
    app = GridApp(state)
    async with app.run_test(size=(80, 8)):
        assert app.grid.header_height == 1
        assert "here" in app.lines()[0]
        assert "✓·" in app.lines()[1]


async def test_many_attempts_are_cut_with_a_sign_and_never_averaged() -> None:
    state = state_of(["a"], attempts=20)
    for number in range(20):
        verdict(state, "a", "here", "strong", number, number % 2 == 0)
    app = GridApp(state)
    async with app.run_test(size=(120, 8)):
        assert "✓✗" * (ATTEMPTS_MOST // 2 - 1) + "✓…" in app.lines()[2]


async def test_b69_new_tasks_and_verdicts_leave_the_cursor_on_its_task() -> None:
    state = state_of([f"task{number:03}" for number in range(100)])
    app = GridApp(state)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*["pagedown"] * 3, *["down"] * 6)
        await pilot.press("right", "right")
        chosen = app.grid.cursor
        assert chosen == ("task057", "here", "weak")
        top = app.grid.scroll_offset.y
        for number in range(20):
            verdict(state, f"task{number:03}", "here", "weak", 0, True)
        fold(state, task_row("a new one"))
        app.grid.show_board(Board(state))
        await pilot.pause()
        assert app.grid.cursor == chosen
        assert app.grid.scroll_offset.y == top
        assert any("› task057" in line for line in app.lines())


async def test_a_change_off_the_screen_draws_nothing_and_one_on_it_draws_its_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = state_of([f"task{number:03}" for number in range(500)], [f"e{number}" for number in range(10)])
    app = GridApp(state)
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()
        drawn: list[Region] = []
        monkeypatch.setattr(app.grid, "refresh", lambda *regions: drawn.extend(regions))
        verdict(state, "task400", "e0", "weak", 0, True)
        app.grid.apply([("task400", "e0", "weak")])
        assert drawn == []
        verdict(state, "task003", "e0", "weak", 0, True)
        app.grid.apply([("task003", "e0", "weak"), ("task400", "e0", "weak"), ("no task", "e0", "weak")])
        line = 3 + app.grid.header_height
        assert [(region.y, region.height) for region in drawn] == [(line, 1)]
        assert drawn[0].right < 80, "up to the cell, not the row"
        verdict(state, "task003", "e1", "weak", 0, False)
        app.grid.apply([("task003", "e1", "weak")])
        assert drawn[-1].right == app.grid.scrollable_content_region.right, "a flip draws the end of the row too"
        monkeypatch.undo()
        app.grid.apply([("task003", "e0", "weak"), ("task003", "e1", "weak")])
        await pilot.pause()
        assert "⇄" in app.lines()[line]


async def test_what_is_drawn_piece_by_piece_is_what_a_fresh_grid_shows() -> None:
    state = state_of([f"task{number:03}" for number in range(60)], ["e0", "e1", "e2"])
    app = GridApp(state)
    async with app.run_test(size=(140, 30)) as pilot:
        await pilot.press("pagedown", "j", "l")
        for number in range(300):
            key = (f"task{number * 7 % 60:03}", f"e{number % 3}", ("strong", "weak")[number // 3 % 2])
            verdict(state, *key, number // 180, number % 5 not in (0, 3))
            app.grid.apply([key])
            if number % 20 == 0:
                await pilot.press("j" if number % 40 else "k")
        await pilot.pause()
        piecemeal = app.lines()
        app.grid.show_board(Board(state))
        await pilot.pause()
        assert app.lines() == piecemeal


async def test_ends_pages_and_edges_stay_inside() -> None:
    app = GridApp(state_of([f"task{number:03}" for number in range(50)]))
    async with app.run_test(size=(80, 12)) as pilot:
        for keys, wanted in (
            (["k"], "task000"), (["G"], "task049"), (["j"], "task049"), (["pagedown"], "task049"), (["g"], "task000"),
            (["pagedown"], "task009"), (["ctrl+u"], "task000"), (["h"], "task000"),
        ):  # fmt: skip
            await pilot.press(*keys)
            assert app.grid.cursor is not None
            assert app.grid.cursor[0] == wanted, keys
            assert any(f"› {wanted}" in line for line in app.lines()), keys


async def test_an_empty_grid_takes_every_key() -> None:
    app = GridApp(RunState())
    async with app.run_test(size=(80, 8)) as pilot:
        await pilot.press("j", "k", "h", "l", "g", "G", "pagedown", "pageup", "enter")
        await pilot.click(offset=(10, 4))
        assert app.grid.cursor is None


def test_verdicts_can_be_read_without_colour() -> None:
    for signs in (glyphs.UNICODE, glyphs.ASCII):
        used = [signs.passed, signs.failed, signs.void, signs.running, signs.queued, signs.absent, signs.flaky]
        assert len(set(used)) == len(used)
        assert all(cell_len(sign) == 1 for sign in used)
        assert cell_len(signs.flip) == signs.mark_width
    assert all(str(getattr(glyphs.ASCII, name)).isascii() for name in glyphs.ASCII.__slots__)


@pytest.mark.parametrize(
    ("languages", "wanted"), [("C.UTF-8", glyphs.UNICODE), ("C", glyphs.ASCII), ("POSIX", glyphs.ASCII)]
)
def test_the_glyph_set_follows_the_locale(
    monkeypatch: pytest.MonkeyPatch, languages: str, wanted: glyphs.Glyphs
) -> None:
    encodings = {"C.UTF-8": "UTF-8", "C": "ANSI_X3.4-1968", "POSIX": "ANSI_X3.4-1968"}
    monkeypatch.setattr("locale.getencoding", lambda: encodings[languages])
    assert glyphs.glyphs_for(False) is wanted
    assert glyphs.glyphs_for(True) is glyphs.ASCII


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [("short", 10, "short"), ("exactly10!", 10, "exactly10!"), ("much too long", 6, "much…"), ("折扣规则", 5, "折扣…"),
     ("折扣规则", 4, "折…"), ("cafe\u0301s", 4, "caf…"), ("x", 0, "")],
)  # fmt: skip
def test_names_are_cut_by_cells_with_a_mark(text: str, width: int, wanted: str) -> None:
    assert fitted(text, width, "…") == wanted
    assert cell_len(fitted(text, width, "…")) <= width


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [("local-3.11", 10, "local-3.11"), ("local-python-3.11", 10, "local…3.11"), ("local", 4, "loc…"),
     ("折扣规则环境", 7, "折扣…境"), ("e\u0301" * 20, 9, "e\u0301" * 4 + "…" + "e\u0301" * 4)],
)  # fmt: skip
def test_environment_names_keep_both_ends(text: str, width: int, wanted: str) -> None:
    assert fitted_middle(text, width, "…") == wanted


def test_task_names_stay_readable_beside_many_columns() -> None:
    columns = [Column(agent, env) for agent in ("a", "b") for env in ("one", "two", "three")]
    for width in (60, 80, 120, 160):
        plan = layout(width, 24, columns, 2, 0, 1)
        assert plan.task.width >= 8
        last = max([plan.flip, *([plan.unequal] if plan.unequal else []), *([plan.why] if plan.why else [])],
                   key=lambda span: span.start)  # fmt: skip
        assert last.start + last.width <= width


def _rows_of(state: RunState, task: str) -> tuple[list[bool], bool, str]:
    board = Board(state)
    return board.flips(task), board.unequal(task), board.why(task, Clock()())


def test_marks_and_reasons_follow_the_declared_attempt() -> None:
    state = state_of(["a"], attempts=2)
    for env, passed in (("here", True), ("there", False)):
        verdict(state, "a", env, "strong", 0, passed)
        verdict(state, "a", env, "weak", 0, True)
    assert _rows_of(state, "a") == ([True, False], True, "strong flips with the box")
    verdict(state, "a", "here", "weak", 1, False)
    assert "attempts differ in weak here" in _rows_of(state, "a")[2]


def test_a_void_is_neither_flip_nor_difference() -> None:
    state = state_of(["a"], attempts=1)
    verdict(state, "a", "here", "strong", 0, True)
    fold(state, _void("a", "there", "strong", "oracle_mutated"))
    verdict(state, "a", "here", "weak", 0, True)
    assert _rows_of(state, "a") == ([False, False], False, "void oracle_mutated (strong there)")


def test_flaky_verifies_are_named_and_drawn_as_such() -> None:
    state = state_of(["a"], attempts=1)
    fold(state, attempt_row("a", "here", "strong", 0, True, verify_runs=[0, 1, 0]))
    assert Board(state).signs("a", Column("strong", "here")) == ["flaky_passed"]
    assert "flaky test (strong here)" in _rows_of(state, "a")[2]


def test_probes_are_not_drawn_as_attempts() -> None:
    state = state_of(["a"], attempts=1)
    fold(state, attempt_row("a", "here", "strong", 7, False, role="probe"))
    fold(state, EventRow(run_id="r", event="started", task="a", env="here", agent="strong", number=8, role="probe",
                         attempt_id="p"))  # fmt: skip
    assert Board(state).signs("a", Column("strong", "here")) == ["queued"]


def _void(task: str, env: str, agent: str, cause: str) -> AttemptRow:
    return attempt_row(task, env, agent, 0, None, void=cause, void_causes=[cause])


def test_the_stylesheets_lie_beside_their_screens() -> None:
    root = Path(glyphs.__file__).parent
    assert {"dialog.tcss", "help.tcss", "main.tcss"} <= {path.name for path in root.rglob("*.tcss")}
