"""Every row of a ledger on the screen: newest first, filtered, damaged, linked, live, cut, replaced and removed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from test_hostile_text import HOSTILE as EVIL
from test_hostile_text import own_sequences_only
from textual.pilot import Pilot
from tui_ledgers import TASKS, Book, Clock, story
from tui_screens import NARROW, WIDE, gone, lines, shown, text, until
from tui_terminals import Terminal, command

from tui_bench.tui.app import BenchApp, Departure
from tui_bench.tui.filter import parse_filter
from tui_bench.tui.row_index import RowIndex
from tui_bench.tui.row_search import BadRows, FilteredRows
from tui_bench.tui.screens.ledger import LedgerScreen
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.screens.task import TaskScreen
from tui_bench.tui.widgets.rows_table import RowsTable

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\x9b6n\u202e[bold][/x]"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def table(app: BenchApp) -> RowsTable:
    return app.screen.query_one(RowsTable)


async def browse(pilot: Pilot[Departure]) -> None:
    await shown(pilot, "q quit")
    await pilot.press("6")
    await shown(pilot, "Ledger")
    await until(pilot, lambda: table(pilot.app).chosen is not None)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_rows_stand_newest_first_and_the_chosen_one_in_full(path: Path, size: tuple[int, int]) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await browse(pilot)
        await shown(pilot, "› 280")
        await shown(pilot, "280 rows")
        await shown(pilot, "0 bad")
        await shown(pilot, '"agent": "weak"')
        assert all(cell_len(line) == size[0] for line in lines(app)) and len(lines(app)) == size[1]
        found = text(app)
        assert found.index("280  ") < found.index("279  ") < found.index("278  ")
        await pilot.press("G")
        await shown(pilot, "› 1 ")
        await shown(pilot, "slice12, 96 planned")
        await pilot.press("s")
        await shown(pilot, "ledger order")
        assert table(app).cursor == 0, "another order keeps the row"
        await pilot.press("escape")
        assert isinstance(app.screen, MainScreen)


async def test_a_filter_finds_rows_and_escape_gives_all_back(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await browse(pilot)
        await pilot.press(*"/kind:attempt void:*")
        await shown(pilot, "1 of 280 rows")
        await shown(pilot, "oracle_mutated")
        await pilot.press(*" tsk:x")
        await shown(pilot, "tsk: is no word here; did you mean task:")
        await pilot.press("enter")
        assert app.screen.query_one("FilterBar").has_class("-editing"), "what cannot be read is not kept"  # type: ignore[attr-defined]
        await pilot.press("escape")
        await shown(pilot, "none   /")
        await shown(pilot, "› 280")
        await pilot.press(*"/!passed:true kind:attempt env:there task:t02", "enter")
        await shown(pilot, "4 of 280 rows")
        await pilot.press("escape")
        await gone(pilot, "of 280 rows")
        assert isinstance(app.screen, LedgerScreen), "escape first clears the filter"


async def test_what_is_pasted_into_the_filter_is_clean(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await browse(pilot)
        await pilot.press("slash")
        app.screen.query_one("FilterInput").insert_text_at_cursor(HOSTILE)  # type: ignore[attr-defined]
        await shown(pilot, "0 of 280 rows")
        assert not {"\x1b", "\x9b", "\u202e"} & set(text(app))


async def test_damaged_rows_are_named_and_stand_alone_on_b(path: Path) -> None:
    story(path).close()
    rows = path.read_bytes().splitlines(keepends=True)
    rows[99] = b'{"kind": "attempt", "task": "t0\n'
    changed = next(number for number in range(150, 199) if b'"passed":true' in rows[number])
    rows[changed] = rows[changed].replace(b'"passed":true', b'"passed":null')
    rows[199] = b'{"kind":"surprise","seq":200}\n'
    path.write_bytes(b"".join(rows) + HOSTILE.encode().replace(b"\n", b"") + b"\n")
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await browse(pilot)
        await shown(pilot, "281 rows")
        await shown(pilot, "› 281")
        await shown(pilot, "damaged")
        await shown(pilot, "4 bad")
        await pilot.press("b")
        await shown(pilot, "Damaged rows")
        await shown(pilot, "4 of 281 rows")
        await shown(pilot, "line 281: not JSON")
        await pilot.press("G")
        await shown(pilot, "› 100")
        await shown(pilot, "line 100: not JSON")
        await shown(pilot, "digest does not match")
        assert not {"\x1b", "\x9b", "\u202e"} & set(text(app))
        await pilot.press("escape")
        await gone(pilot, "Damaged rows")
        assert isinstance(app.screen, LedgerScreen)


async def test_jumps_follow_an_attempt_from_start_to_result_and_to_what_replaced_it(path: Path) -> None:
    book = Book(path)
    book.begin(["a", "b"], ["here"], ["strong"], attempts=1)
    first = book.started("a", "here", "strong", 0)
    book.event("beat")
    book.attempt("a", "here", "strong", 0, None, void="interrupted", attempt_id=first)
    lost = len(path.read_bytes().splitlines())
    book.attempt("b", "here", "strong", 0, True)
    book.event("started", task="a", env="here", attempt_id="f" * 16, agent="strong", number=0, replaces=lost)
    book.attempt("a", "here", "strong", 0, True, attempt_id="f" * 16, replaces=lost)
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await browse(pilot)
        await until(pilot, lambda: table(app).cursor == lost + 2)
        for key, place in (("<", lost + 1), ("<", lost - 1), ("<", lost - 3), (">", lost - 1), (">", lost + 1),
                           (">", lost + 2)):  # fmt: skip
            await pilot.press({"<": "less_than_sign", ">": "greater_than_sign"}[key])
            await until(pilot, lambda wanted=place: table(app).cursor == wanted, f"{key} to {place}")  # type: ignore[misc]
        await pilot.press(*"/task:a kind:attempt", "enter", "less_than_sign")
        await shown(pilot, "outside the filter")
        assert table(app).cursor == lost + 1
        await pilot.press("g", "j", "j", "greater_than_sign")
        await shown(pilot, "No row after this one belongs to it")


async def test_enter_opens_the_attempt_of_a_row(path: Path) -> None:
    story(path).close()
    opened: list[LedgerScreen.AttemptOpened] = []
    app = BenchApp(path, None)
    hook = lambda message: opened.append(message) if isinstance(message, LedgerScreen.AttemptOpened) else None  # noqa: E731
    async with app.run_test(size=WIDE, message_hook=hook) as pilot:
        await browse(pilot)
        await pilot.press(*"/void:*", "enter")
        await shown(pilot, "1 of 280 rows")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen))
        await shown(pilot, "void, oracle_mutated: the oracle was changed during the attempt")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LedgerScreen))
    found = opened[0]
    assert (found.task, found.env, found.agent, found.number) == (TASKS[10], "there", "weak", 1)


async def test_b69_rows_that_arrive_move_neither_cursor_nor_view_unless_followed(path: Path) -> None:
    book = story(path, Clock(), upto=6)
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await browse(pilot)
        count = len(path.read_bytes().splitlines())
        await shown(pilot, f"› {count}")
        book.event("beat")
        await shown(pilot, f"› {count + 1}")
        await pilot.press("j", "j", "j", "j")
        await shown(pilot, "staying")
        here = table(app).cursor
        at = next(number for number, line in enumerate(lines(app)) if "› " in line)
        for _ in range(50):
            book.event("beat")
        await shown(pilot, f"{count + 51} rows")
        assert table(app).cursor == here
        assert next(number for number, line in enumerate(lines(app)) if "› " in line) == at
        await pilot.press("f")
        await shown(pilot, f"› {count + 51}")
        await shown(pilot, "following")
    book.close()


async def test_a_ledger_that_is_cut_replaced_or_removed_shows_what_lies_there_now(path: Path, tmp_path: Path) -> None:
    story(path).close()
    whole = path.read_bytes()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await browse(pilot)
        await shown(pilot, "280 rows")
        os.truncate(path, len(b"".join(whole.splitlines(keepends=True)[:100])))
        await shown(pilot, "100 rows")
        await shown(pilot, "was cut")
        await shown(pilot, "› 100")
        other = tmp_path / "other"
        other.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
        other.replace(path)
        await shown(pilot, "3 rows")
        await shown(pilot, "Another file took")
        path.unlink()
        await shown(pilot, "0 rows")
        await shown(pilot, "no such file; waiting for it")
        path.write_bytes(whole)
        await shown(pilot, "280 rows")
        await shown(pilot, "0 bad")


async def test_y_copies_the_row_as_it_stands_in_the_ledger(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await browse(pilot)
        await shown(pilot, '"agent": "weak"')
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard)
        assert json.loads(app.clipboard)["seq"] == 280
        assert app.clipboard.encode() == path.read_bytes().splitlines()[-1]


async def test_hostile_rows_are_shown_and_do_nothing(path: Path) -> None:
    book = Book(path)
    book.begin([f"t{HOSTILE}"], [f"e{HOSTILE}"], [f"a{HOSTILE}"], attempts=1)
    book.attempt(f"t{HOSTILE}", f"e{HOSTILE}", f"a{HOSTILE}", 0, None, void=f"infra{HOSTILE}", void_detail=HOSTILE)
    book.event("stopped", outcome=HOSTILE, reason=HOSTILE)
    book.close()
    for size in (WIDE, NARROW):
        app = BenchApp(path, None)
        async with app.run_test(size=size) as pilot:
            await browse(pilot)
            for key in ("j", "tab", "j", "G", "tab", "b", "b", "slash"):
                await pilot.press(key)
                assert not {"\x1b", "\x9b", "\u202e"} & set(text(app))
            assert "U+202E" in text(app)


def finish(rows: FilteredRows | BadRows) -> None:
    while not rows.done:
        rows.step()


def test_a_long_ledger_is_searched_in_bounded_pieces_from_its_newest_row(path: Path) -> None:
    line = '{"kind":"event","seq":%d,"task":"t%d","run_id":"r"}\n'
    path.write_bytes("".join(line % (number, number % 10) for number in range(1, 30_001)).encode())
    index = RowIndex(path)
    while index.more:
        index.poll()
    assert len(index) == 30_000
    found = FilteredRows(index, parse_filter("task:t7"))
    found.step()
    assert not found.done and 0 < len(found) < 3000
    assert found.place(0) == 29_996
    with path.open("a") as file:
        file.write(line % (30_001, 7))
    index.poll()
    finish(found)
    assert (len(found), found.place(0), found.place(len(found) - 1)) == (3001, 30_000, 6)
    for rank in (0, 1, 500, 3000):
        assert found.rank(found.place(rank)) == rank
    assert found.rank(29_997) == 1 and not found.holds(29_997)
    assert [row.number for row in index.lines([6, 30_000])] == [7, 30_001]
    index.close()


def test_a_line_longer_than_a_row_is_one_damaged_row_that_is_never_read(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"{}\n")
        file.write(b"x" * 9_000_000 + b"\n{}\n")
    index = RowIndex(path)
    while index.more:
        index.poll()
    bad = BadRows(index)
    finish(bad)
    assert len(bad) == 3 and "9000000 bytes" in (bad.fault(1) or "")
    found = FilteredRows(index, parse_filter("kind:damaged"))
    finish(found)
    assert [found.place(rank) for rank in range(len(found))] == [1]
    assert index.lines([1])[0].data is None
    index.close()


def test_nothing_is_read_while_nothing_happens(path: Path) -> None:
    story(path).close()
    index = RowIndex(path)
    while index.more:
        index.poll()
    begun = time.process_time()
    for _ in range(200):
        assert index.poll() is None
    assert time.process_time() - begun < 0.2
    index.close()


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_d23_no_row_acts_on_the_terminal(path: Path, size: tuple[int, int]) -> None:
    book = Book(path)
    book.begin([f"t{EVIL}"], [f"e{EVIL}"], [f"a{EVIL}"], attempts=1)
    book.attempt(f"t{EVIL}", f"e{EVIL}", f"a{EVIL}", 0, None, void=f"infra{EVIL}", void_detail=EVIL,
                 verify_stdout_tail=EVIL)  # fmt: skip
    book.event("paused", reason=EVIL)
    book.close()
    with path.open("ab") as file:
        file.write(EVIL.encode() + b"\n" + b"\xff\x9b6n" * 50 + b"\n")
    terminal = Terminal(command(path), *size)
    try:
        terminal.shows("q quit")
        terminal.press("6")
        terminal.shows("damaged")
        for keys in ("j", "j", "j", "\t", "j", "\t", "b", "b", "s", "G", "<", ">", "/", "void:inf", "\r", "?"):
            terminal.press(keys)
            terminal.read(0.15)
        terminal.shows("Help")
        terminal.press("q")
        terminal.read(0.3)
        terminal.press("q")
        assert terminal.ends() == 0
    finally:
        terminal.close()
    own_sequences_only(bytes(terminal.seen))
