"""The first screen as a person meets it: on text and messages, at the two sizes, from ledgers on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from tui_ledgers import START, TASKS, Book, Clock, story
from tui_screens import NARROW, WIDE, Link, gone, grid, lines, log, main, shown, text, until

from tui_bench.tui.app import BenchApp
from tui_bench.tui.board import Board


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_finished_run_fills_the_screen(path: Path, size: tuple[int, int]) -> None:
    book = story(path)
    book.event("ended", outcome="complete")
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, "ENDED")
        await shown(pilot, "88/88")
        assert all(cell_len(line) == size[0] for line in lines(app))
        assert len(lines(app)) == size[1]
        await shown(pilot, "WINNER")
        await shown(pilot, "t02_tz_offset       │ ✓✓    ✗✗    │ ✗✗    ✗✗    │ ⇄     ≠")
        if size == WIDE:
            await shown(pilot, "excluded: already_")
            await shown(pilot, "void oracle_mutated")
            await pilot.press("j")
            await shown(pilot, "t02_tz_offset: strong flips with the box")
            await shown(pilot, "t11_折扣规则        │ ✓✓    ✓✓    │ ✓✓    ✓∅    │")
            assert sum(task in text(app) for task in TASKS) == 12
        await shown(pilot, "q quit")


async def test_rows_written_while_one_looks_appear(path: Path, clock: Clock) -> None:
    book = Book(path, clock)
    book.begin(["a", "b"], attempts=1)
    app = BenchApp(path, None, clock=clock)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await shown(pilot, "0/8")
        ident = book.started("a", "here", "strong", 0)
        book.phase(ident, "agent")
        await shown(pilot, "▶")
        await shown(pilot, "1 of 2 running")
        book.attempt("a", "here", "strong", 0, True)
        await shown(pilot, "✓")
        await shown(pilot, "1/8")
        book.event("ended", outcome="complete")
        await shown(pilot, "ENDED")
        await shown(pilot, "The run has ended.")
    book.close()


async def test_b18_half_a_row_is_no_error_and_shows_when_it_is_whole(path: Path, tmp_path: Path) -> None:
    book = Book(tmp_path / "other.jsonl")
    book.begin(["a"], attempts=1)
    book.attempt("a", "here", "strong", 0, False)
    book.close()
    whole = (tmp_path / "other.jsonl").read_bytes()
    cut = len(whole) - 200
    path.write_bytes(whole[:cut])
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "0/4")
        await pilot.pause(0.3)
        assert "✗" not in text(app)
        assert main(app).feed.state.damage == []
        with path.open("ab") as handle:
            handle.write(whole[cut:])
        await shown(pilot, "✗")


async def test_b69_cursor_and_log_stay_on_their_task_while_attempts_finish(path: Path) -> None:
    book = story(path, upto=6)
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        for _ in range(4):
            await pilot.press("j")
        await pilot.press("l")
        await shown(pilot, "Log  t05_unique_index · strong · there")
        before = log(app).lines
        for task in TASKS[6:9]:
            for number in range(2):
                book.started(task, "here", "weak", number, log=b"noise\n")
                book.attempt(task, "here", "weak", number, True)
        await until(pilot, lambda: main(app).feed.state.cell(TASKS[8], "here", "weak").done() == 2)
        assert grid(app).cursor == ("t05_unique_index", "there", "strong")
        assert "› t05_unique_index" in text(app)
        assert "Log  t05_unique_index · strong · there" in text(app)
        assert log(app).lines == before
    book.close()


async def test_the_newest_attempt_is_shown_until_a_person_chooses(path: Path) -> None:
    book = Book(path)
    book.begin(["a", "b"])
    first = book.started("a", "here", "strong", 0, log=b"first speaks\n")
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "first speaks")
        await shown(pilot, "newest: a")
        second = book.started("b", "there", "weak", 0, log=b"second speaks\n")
        await shown(pilot, "second speaks")
        book.phase(first, "verify")
        book.phase(second, "agent")
        await pilot.press("j", "k")
        await shown(pilot, "Log  a · strong · here · #1")
        book.started("b", "here", "weak", 0, log=b"third speaks\n")
        await until(pilot, lambda: len(main(app).feed.state.running) == 3)
        assert "third speaks" not in text(app)
    book.close()


async def test_brackets_walk_through_the_logs_of_a_cell(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "t01")
        await pilot.press("j")
        for wanted in ("#1 · ✓ pass exit 0 · verify log", "#2 · ✓ pass exit 0 · agent log"):
            await shown(pilot, wanted)
            await pilot.press("]")
        await shown(pilot, "#2 · ✓ pass exit 0 · verify log")
        for _ in range(3):
            await pilot.press("[")
        await shown(pilot, "#1 · ✓ pass exit 0 · agent log")
        await shown(pilot, "edits src/main.py (+3 -1)")


async def test_tab_goes_to_the_log_and_escape_returns(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("tab")
        assert app.focused is log(app)
        await shown(pilot, "esc back")
        await pilot.press("escape")
        assert app.focused is grid(app)
        await pilot.press("tab")
        assert app.focused is log(app)


async def test_a_frozen_log_stays_whatever_happens(path: Path) -> None:
    book = Book(path)
    book.begin(["a", "b"])
    book.started("a", "here", "strong", 0, log=b"one\n" * 50)
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "following")
        await until(pilot, lambda: log(app).lines)
        await pilot.press("f")
        await shown(pilot, "frozen")
        before = log(app).lines
        folder = book.layout.attempt_folder("a", "here", "strong", 0)
        with (folder / "agent.log").open("ab") as handle:
            handle.write(b"two\n" * 50)
        book.started("b", "here", "strong", 0, log=b"another\n")
        await pilot.press("j")
        await until(pilot, lambda: len(main(app).feed.state.running) == 2)
        assert log(app).lines == before
        assert "a · strong · here" in text(app)
        await pilot.press("f")
        await shown(pilot, "another")
    book.close()


async def test_a_log_scrolled_up_stays_and_its_end_follows_again(path: Path) -> None:
    book = Book(path)
    book.begin(["a"])
    book.started("a", "here", "strong", 0, log="".join(f"row {n}\n" for n in range(100)).encode())
    target = book.layout.attempt_folder("a", "here", "strong", 0) / "agent.log"
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "row 99")
        await pilot.press("tab", "k", "k", "k")
        await gone(pilot, "row 99")
        before = log(app).lines
        with target.open("ab") as handle:
            handle.write(b"row 100\n" * 3)
        await until(pilot, lambda: log(app).status is not None and log(app).status.size == target.stat().st_size)
        assert log(app).lines == before
        assert not log(app).following
        await pilot.press("G")
        await shown(pilot, "row 100")
        await pilot.press("g")
        await shown(pilot, "row 0 ")
        await pilot.press("pagedown")
        await gone(pilot, "row 0 ")
    book.close()


async def test_long_lines_wrap_and_unwrap(path: Path) -> None:
    book = Book(path)
    book.begin(["a"])
    book.started("a", "here", "strong", 0, log=b"start " + b"x" * 200 + b" the-end\n")
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "start xxx")
        assert "the-end" not in text(app)
        await pilot.press("w")
        await shown(pilot, "the-end")
        await pilot.press("w")
        await gone(pilot, "the-end")
        await pilot.press("tab", *["l"] * 20)
        await shown(pilot, "the-end")
    book.close()


async def test_b72_time_moves_while_an_attempt_says_nothing(path: Path, clock: Clock) -> None:
    book = Book(path, clock)
    book.begin(["a"])
    ident = book.started("a", "here", "strong", 0, log=b"hello\n")
    book.phase(ident, "verify")
    (book.layout.attempt_folder("a", "here", "strong", 0) / "verify.log").write_bytes(b"testing\n")
    app = BenchApp(path, Link(), clock=clock)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "verify 0:02, limit 1:00 (strong here #1)")
        clock.now += 41
        await shown(pilot, "verify 0:43, limit 1:00 (strong here #1)")
        await shown(pilot, "last output")
        await shown(pilot, "ago")
    book.close()


async def test_a_runner_that_is_gone_is_said_with_the_cure(path: Path, clock: Clock) -> None:
    book = Book(path, clock)
    book.begin(["a"])
    app = BenchApp(path, None, clock=clock)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await shown(pilot, "LIVE ● beat")
        main(app).feed._moved_at = None
        clock.now += 60
        await shown(pilot, "RUNNER LOST no beat for 61 s")
        await shown(pilot, "tui-bench resume")
    book.close()


@pytest.mark.parametrize(
    ("size", "log_seen", "grid_seen"),
    [((70, 30), False, True), ((100, 18), False, True), ((58, 14), False, False), ((40, 12), False, False)],
)
async def test_small_terminals_keep_the_verdict(
    path: Path, size: tuple[int, int], log_seen: bool, grid_seen: bool
) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, "WINNER")
        assert ("t01_page" in text(app)) is grid_seen
        assert (log(app).size.height > 0) is log_seen
        if not grid_seen:
            await shown(pilot, f"{size[0]} x {size[1]}")
            await shown(pilot, "60 x 15")


async def test_b70_sizes_down_to_nothing_do_no_harm(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        for size in ((20, 5), (1, 1), (200, 60), (3, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await shown(pilot, "t01_page_boundary")


async def test_without_unicode_everything_is_ascii(path: Path) -> None:
    book = story(path)
    book.started(TASKS[0], "here", "strong", 0, log=b"plain\n")
    book.close()
    app = BenchApp(path, None, ascii_glyphs=True)
    async with app.run_test(size=(160, 20)) as pilot:
        await shown(pilot, "PP")
        await shown(pilot, "<>")
        assert [line for line in lines(app) if not line.isascii() and "则" not in line] == []


async def test_a_ledger_that_is_not_there_yet_is_waited_for(path: Path) -> None:
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "no such file; waiting for it to appear")
        await pilot.press("j", "enter", "escape", "f", "w", "]")
        story(path, upto=2).close()
        await shown(pilot, "t02_tz_offset")


async def test_a_replaced_ledger_starts_a_new_picture(path: Path, tmp_path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t02_tz_offset")
        other = Book(tmp_path / "new.jsonl")
        other.begin(["completely_new"])
        other.close()
        (tmp_path / "new.jsonl").rename(path)
        await shown(pilot, "completely_new")
        await gone(pilot, "t02_tz_offset")


async def test_an_edited_row_stops_the_verdict_of_a_finished_run(path: Path) -> None:
    book = story(path)
    book.event("ended", outcome="complete")
    book.close()
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"passed":false', b'"passed":true ', 1))
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "STOPPED")


async def test_a_click_chooses_a_cell_and_a_hint_does_what_its_key_does(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t03_null_guard")
        row = next(number for number, line in enumerate(lines(app)) if "t03_null_guard" in line)
        column = next(line for line in lines(app) if "│ here" in line).index("there")
        await pilot.click(offset=(column, row))
        await until(pilot, lambda: grid(app).cursor == ("t03_null_guard", "there", "strong"))
        footer = lines(app)[-1]
        await pilot.click(offset=(footer.index("quit"), NARROW[1] - 1))
    assert app.return_value is not None


async def test_a_fault_of_its_own_ends_in_one_line_without_local_values(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story(path).close()

    def broken(self: Board, task: str) -> list[bool]:
        secret = "sk-very-secret"  # noqa: F841  (a traceback with locals would show it)
        raise KeyError("\x1b[2Jbroken")

    monkeypatch.setattr(Board, "flips", broken)
    app = BenchApp(path, None)
    with pytest.raises(KeyError):
        async with app.run_test(size=NARROW) as pilot:
            await pilot.pause(0.2)
    assert app.failure is not None
    assert "\x1b" not in app.failure
    assert app.failure.startswith("KeyError")
    assert "test_main_screen.py" in app.failure
    assert app.return_code == 1
