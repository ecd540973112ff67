"""What stands beside and below the grid at each size, zoom and tabs, the filter in its frame."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tui_ledgers import RUN, TASKS, Book, Clock, story
from tui_screens import NARROW, WIDE, Link, gone, grid, lines, log, main, shown, text, until

from tui_bench.ledger.rows import EventRow
from tui_bench.tui.app import BenchApp
from tui_bench.tui.screens.notice import NoticeScreen
from tui_bench.tui.screens.run_control import GONE_S
from tui_bench.tui.widgets.filter_bar import FilterBar


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


SEEN = {
    (160, 45): {"Controls", "Tasks 1-12 of 12", "Void reasons", "Tally", "Log"},
    (120, 35): {"Tasks 1-12 of 12", "Void reasons", "Tally", "Log", "{ Log · Controls }"},
    (80, 24): {"Tasks 1-7 of 12", "Log", "{ Log · Void 1 · Controls · Tally }"},
    (79, 19): {"Tasks 1-10 of 12"},
    (59, 14): {"59 x 14 cells; the grid needs 60 x 15."},
}
PLACES = ("Controls", "Tasks 1-", "Void reasons", "Tally", "Log  ", "the grid needs")


@pytest.mark.parametrize("size", SEEN, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_each_size_shows_what_it_has_room_for_and_always_the_verdict(path: Path, size: tuple[int, int]) -> None:
    book = story(path)
    book.event("ended", outcome="complete")
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, "WINNER strong")
        for wanted in SEEN[size]:
            await shown(pilot, wanted)
        frames = "\n".join(line for line in lines(app) if "╭" in line or "needs" in line)
        for place in PLACES:
            wanted = any(place.strip() in seen for seen in SEEN[size] if not seen.startswith("{"))
            assert (place in frames) == wanted, place


async def test_the_panes_say_what_the_ledger_holds(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "WINNER")
        for said in (
            "study     slice12", "dimension timezone", "agents    strong scripted", "envs      here local",
            "attempts  2, #1 counts", "gate      flips <= 0.10", "voids     stop above 8.3 %", "frozen    ok",
            "∅ oracle_mutated 1", "the oracle was changed during", "pass fail void  n rate",
            "strong here    11    0    0 11 1.00", "strong there   10    1    0 11 .909",
            "strong there .909 .71 to 1.0 11", "strong here           null     1.5s", "⇄ flips",
        ):  # fmt: skip
            await shown(pilot, said)
        controls = [line[: line.index("│", 2)] for line in lines(app) if line.startswith("│")]
        assert not re.search("[0-9a-f]{16}", "\n".join(controls)), "digests are one word"


async def test_a_damaged_ledger_says_so_where_things_are_frozen(path: Path) -> None:
    story(path).close()
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:40]) + b"{broken}\n" + b"".join(whole[41:]))
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "frozen    damaged")


async def test_tabs_go_round_and_a_click_opens_one(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "{ Log · Void 1 · Controls · Tally }")
        for key, seen in (("}", "∅ oracle_mutated"), ("}", "dimension timezone"), ("}", "pass fail"), ("}", "Ran 31"),
                          ("{", "pass fail")):  # fmt: skip
            await pilot.press("right_curly_bracket" if key == "}" else "left_curly_bracket")
            await shown(pilot, seen)
            assert app.focused is grid(app), "the keys stay where they were"
        y = next(number for number, line in enumerate(lines(app)) if "{ Log" in line)
        await pilot.click(offset=(lines(app)[y].index("Void 1") + 2, y))
        await shown(pilot, "∅ oracle_mutated")


async def test_at_80_columns_the_tally_fits_without_scrolling(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("left_curly_bracket")
        await shown(pilot, "tokens/solved p50 wall")
        await shown(pilot, "weak there      6    5    0 11 .545  .545 .19 to .90          null     1.5s")


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_z_leaves_one_pane_and_the_verdict_and_brings_all_back(path: Path, size: tuple[int, int]) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, "Log  ")
        await pilot.press("z")
        await gone(pilot, "Log  ")
        await shown(pilot, "t12_parse_dates")
        await shown(pilot, "strong 5 : weak 0")
        await pilot.press("escape")
        await shown(pilot, "Log  ")
        log(app).focus()
        await pilot.press("z")
        await gone(pilot, "Tasks 1-")
        await shown(pilot, "strong 5 : weak 0")
        assert log(app).size.height > size[1] // 2
        await pilot.press("escape")
        await shown(pilot, "Tasks 1-")
        assert app.focused is grid(app)


async def test_zoom_takes_a_side_pane_too_and_a_resize_never_loses_the_keys(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "Tally")
        main(app).query_one("#tally").focus()
        await pilot.press("z")
        await gone(pilot, "Tasks 1-")
        await shown(pilot, "weak there      6    5    0 11")
        await pilot.press("z")
        await shown(pilot, "Tasks 1-")
        main(app).query_one("#controls").focus()
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.focused is grid(app))
        await pilot.resize_terminal(58, 14)
        await shown(pilot, "the grid needs")
        await pilot.resize_terminal(80, 24)
        await shown(pilot, "Tasks 1-7")
        await until(pilot, lambda: app.focused is grid(app))


async def test_a_filter_is_kept_while_rows_arrive_and_escape_clears_it_first(path: Path) -> None:
    book = Book(path)
    book.begin([f"t{number:02}" for number in range(12)], attempts=1)
    book.attempt("t03", "here", "strong", 0, None, void="infra")
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t00")
        await pilot.press("slash", *"void:*")
        await shown(pilot, "1 of 12 tasks")
        await pilot.press("enter")
        assert app.focused is grid(app)
        await shown(pilot, "Tasks 1-1 of 1, all 12 · filter void:*")
        book.attempt("t07", "there", "weak", 0, None, void="infra")
        await shown(pilot, "Tasks 1-2 of 2, all 12")
        assert grid(app).cursor == ("t03", "here", "strong")
        await pilot.press("escape")
        await gone(pilot, "filter void:*")
        await shown(pilot, "Tasks 1-")
        assert grid(app).cursor == ("t03", "here", "strong"), "the cursor stays on its row"
        assert not main(app).query_one(FilterBar).has_class("-shown")
        await pilot.press("slash", *"pased:", "enter")
        await shown(pilot, "did you mean passed:")
        await pilot.press("escape")
        await shown(pilot, "Tasks 1-7 of 12")
    book.close()


async def test_no_row_left_by_a_filter_is_said_and_keys_do_no_harm(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("slash", *"task:none", "enter")
        await shown(pilot, "0 of 12 tasks")
        await pilot.press("j", "G", "n", "s", "v", "x", "r", "enter", "z", "z")
        await shown(pilot, "0 of 12 tasks")
        await pilot.press("escape")
        await shown(pilot, "t01_page_boundary")


async def test_sort_and_figure_stand_in_the_frame(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "t01")
        await pilot.press("s", "v", "v")
        await shown(pilot, "flips first · duration of attempt #1")
        await shown(pilot, "1.5s")
        assert grid(app).cursor is not None and grid(app).cursor[0] == TASKS[0]


async def test_a_runner_that_ends_without_a_word_opens_one_dialog_with_the_cure(path: Path, tmp_path: Path) -> None:
    book = Book(path, Clock())
    book.begin(["a"])
    book.started("a", "here", "strong", 0)
    link = Link()
    app = BenchApp(path, link, clock=book.clock)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "LIVE")
        link.alive = False
        await until(pilot, lambda: isinstance(app.screen, NoticeScreen), f"a dialog after {GONE_S} s")
        await shown(pilot, "The runner is gone")
        await shown(pilot, "0 attempts are safe in the ledger; 1 were running")
        await shown(pilot, "tui-bench resume")
        await pilot.press("escape")
        await shown(pilot, "RUNNER LOST")
        await pilot.pause(2.5)
        assert not isinstance(app.screen, NoticeScreen), "once"
    book.close()


async def test_b72_a_runner_that_lives_and_says_nothing_is_told_apart(path: Path) -> None:
    book = Book(path, Clock())
    book.begin(["a"])
    app = BenchApp(path, Link(), clock=book.clock)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "LIVE")
        main(app).feed._moved_at = None
        book.clock.now += 27
        await shown(pilot, "The runner says nothing")
        await shown(pilot, "lives")
        await pilot.press("q")
        await shown(pilot, "LATE")
    book.close()


async def test_two_viewers_see_one_anothers_requests_in_the_ledger(path: Path) -> None:
    book = story(path, upto=3)
    link = Link()
    first, second = BenchApp(path, link), BenchApp(path, link)
    async with first.run_test(size=NARROW) as one, second.run_test(size=NARROW) as two:
        await shown(one, "t01")
        await shown(two, "t01")
        await one.press("p")
        await until(one, lambda: link.asked == ["pause"])
        book.add(EventRow(run_id=RUN, event="request", detail={"do": "pause", "arg": None}))
        book.event("paused")
        await shown(one, "PAUSED")
        await shown(two, "PAUSED")
        await two.press("p")
        await until(two, lambda: link.asked == ["pause", "resume"])
        assert text(first).splitlines()[1:4] == text(second).splitlines()[1:4]
    book.close()
