"""Filter, sort, jumps and figures of the grid: what a row is found by, and what its cells show."""

from __future__ import annotations

import pytest
from test_grid import GridApp, state_of, verdict
from tui_ledgers import attempt_row

from tui_bench.analysis.fold import fold
from tui_bench.analysis.state import RunState
from tui_bench.tui.arrangement import SORTS, Arrangement, fits
from tui_bench.tui.board import Board, Column
from tui_bench.tui.figures import count, duration, figure
from tui_bench.tui.filter import parse_filter

TASKS = ["calm", "flips", "void", "fails", "unequal", "queued"]


def told() -> RunState:
    """Six tasks that are what their names say, for two agents in two environments, one attempt each."""
    state = state_of(TASKS, attempts=1)
    for task in TASKS[:-1]:
        for agent in ("strong", "weak"):
            for env in ("here", "there"):
                passed: bool | None = task != "fails"
                if task == "flips" and (agent, env) == ("strong", "there"):
                    passed = False
                if task == "void" and (agent, env) == ("weak", "here"):
                    passed = None
                if task == "unequal" and agent == "weak":
                    passed = False
                wall = 9000 if task == "calm" else 1500
                fold(state, attempt_row(task, env, agent, 0, passed, void=None if passed is not None else "infra",
                                        wall_ms=wall, tokens_in=1000, tokens_out=200))  # fmt: skip
    return state


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("task:f*", ["flips", "fails"]),
        ("void:infra", ["void"]),
        ("!void:*", ["calm", "flips", "fails", "unequal", "queued"]),
        ("passed:false", ["flips", "fails", "unequal"]),
        ("env:there agent:strong passed:false", ["flips", "fails"]),
        ("env:h* !passed:true", ["fails", "queued"]),
        ("!agent:weak passed:null", []),
        ("agent:weak passed:null", ["void"]),
        ("passed:true passed:false env:h*", ["calm", "flips", "void", "fails", "unequal"]),
        ('"with the box"', ["flips"]),
        ("!flips passed:false", ["fails", "unequal"]),
        ("env:nowhere", []),
        ("!env:h* passed:false", ["flips", "fails", "unequal"]),
        ("seq:1", []),
    ],
)
def test_a_filter_finds_tasks_by_their_attempts(typed: str, wanted: list[str]) -> None:
    board = Board(told())
    assert [task for task in board.tasks if fits(parse_filter(typed), board, task)] == wanted


@pytest.mark.parametrize(
    ("sort", "first"), [("ledger", "calm"), ("flips", "flips"), ("void", "void"), ("fails", "fails"), ("wall", "calm")]
)
def test_a_sort_puts_the_heaviest_first_and_leaves_the_rest_in_ledger_order(sort: str, first: str) -> None:
    board, arrangement = Board(told()), Arrangement()
    arrangement.sort = sort  # type: ignore[assignment]
    found = arrangement.tasks(board)
    assert found[0] == first and sorted(found) == sorted(TASKS)
    if sort == "void":
        assert found[1:] == [task for task in TASKS if task != "void"]


def test_a_weight_is_taken_anew_only_for_a_task_that_a_row_came_for() -> None:
    state = told()
    board, arrangement = Board(state), Arrangement()
    arrangement.sort = "void"
    assert arrangement.tasks(board)[0] == "void"
    for env in ("here", "there"):
        verdict(state, "queued", env, "weak", 0, None)
    assert arrangement.tasks(board)[0] == "void", "nothing was told"
    arrangement.touch(["queued"])
    assert arrangement.tasks(board)[0] == "queued"


async def test_b69_filter_and_sort_keep_the_cursor_on_its_task_while_rows_arrive() -> None:
    state = state_of([f"t{n:02}" for n in range(40)], attempts=1)
    app = GridApp(state)
    async with app.run_test(size=(120, 16)) as pilot:
        grid = app.grid
        for _ in range(20):
            await pilot.press("j")
        for _ in range(SORTS.index("fails")):
            grid.action_sort()
        await pilot.pause()
        assert grid.cursor is not None and grid.cursor[0] == "t20"
        line = next(place for place, text in enumerate(app.lines()) if "t20" in text)
        verdict(state, "t39", "here", "strong", 0, False)
        grid.apply([("t39", "here", "strong")])
        grid.settle()
        await pilot.pause()
        assert grid.cursor[0] == "t20", "t39 is the first row now"
        assert next(place for place, text in enumerate(app.lines()) if "t20" in text) == line
        await pilot.press("g")
        assert grid.cursor[0] == "t39"
        grid.narrow(parse_filter("task:t1*"))
        await pilot.pause()
        assert (grid.shown, grid.cursor[0]) == (10, "t10")
        await pilot.press("j")
        grid.narrow(parse_filter("task:none"))
        await pilot.pause()
        assert (grid.shown, grid.cursor) == (0, None)
        grid.narrow(parse_filter(""))
        await pilot.pause()
        assert (grid.shown, grid.cursor[0]) == (40, "t11"), "the cursor comes back to its task"


async def test_n_walks_through_rows_that_want_a_look_in_both_directions() -> None:
    app = GridApp(told())
    async with app.run_test(size=(120, 16)) as pilot:
        seen = []
        for direction in (1, 1, 1, 1, -1, -1):
            app.grid.action_notable(direction)
            await pilot.pause()
            assert app.grid.cursor is not None
            seen.append(app.grid.cursor[0])
        assert seen == ["flips", "void", "unequal", "flips", "unequal", "void"]


async def test_v_shows_figures_with_their_n_and_null_for_what_is_unknown() -> None:
    state = told()
    verdict(state, "queued", "here", "strong", 0, True)
    app = GridApp(state)
    async with app.run_test(size=(120, 16)) as pilot:
        app.grid.action_figure()
        await pilot.pause()
        assert "1/1" in app.lines()[2] and "0/1" in app.lines()[3]
        void = next(line for line in app.lines() if line.startswith("  void"))
        assert "null" in void
        app.grid.action_figure()
        await pilot.pause()
        assert "9.0s" in app.lines()[2]
        app.grid.action_figure()
        await pilot.pause()
        assert "1.2k" in app.lines()[2]
        queued = next(line for line in app.lines() if line.startswith("  queued"))
        assert "null" in queued and "·" in queued
        app.grid.action_figure()
        await pilot.pause()
        assert "✓" in app.lines()[2]


def test_a_rate_is_the_cells_own_attempts() -> None:
    state = state_of(["a"], attempts=3)
    for number, passed in enumerate((True, False, None)):
        verdict(state, "a", "here", "strong", number, passed)
    board = Board(state)
    shown = figure(board.cell("a", Column("strong", "here")), "rate", 0)
    assert shown is not None and (shown.text, shown.look) == ("1/2", "task")
    assert figure(board.cell("a", Column("strong", "there")), "rate", 0) is None


@pytest.mark.parametrize(
    ("ms", "wanted"),
    [(0, "0.0s"), (400, "0.4s"), (9949, "9.9s"), (9950, "10s"), (99_400, "99s"), (185_000, "3m05"),
     (5_999_000, "99m59"), (6_000_000, "1h40"), (4_800_000_000, "99h+")],
)  # fmt: skip
def test_durations_fit_into_five_cells(ms: int, wanted: str) -> None:
    assert duration(ms) == wanted


@pytest.mark.parametrize(
    ("number", "wanted"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (9949, "9.9k"), (9950, "10k"), (999_499, "999k"), (999_500, "1.0M"),
     (2_147_483_647, "2.1G")],
)  # fmt: skip
def test_counts_fit_into_five_cells(number: int, wanted: str) -> None:
    assert count(number) == wanted
