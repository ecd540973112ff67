"""B69: another process appends 500 rows a second; cursor, order, filter, scroll and a frozen log stay, keys answer."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tui_ledgers import Book
from tui_screens import grid, lines, log, main, shown, until

from tui_bench.tui.app import BenchApp

WRITER = """
import sys, time
sys.path.insert(0, {here!r})
from pathlib import Path
from tui_ledgers import attempt_row
from tui_bench.ledger.writer import LedgerWriter
writer = LedgerWriter.open(Path({path!r}))
begun, sent = time.monotonic(), 0
keys = [(t, e, a, n) for n in range(2) for t in range(400) for e in ("here", "there") for a in ("strong", "weak")]
print("writing", flush=True)
while time.monotonic() - begun < 3.0:
    due = int((time.monotonic() - begun) * 500)
    while sent < min(due, len(keys)):
        t, e, a, n = keys[sent]
        passed = None if t % 50 == 7 else (t + (e == "here")) % 3 != 0
        writer.append(attempt_row("t%03d" % t, e, a, n, passed, void=None if passed is not None else "infra"))
        sent += 1
    time.sleep(0.01)
writer.close()
print(sent, flush=True)
"""
PRESS_S = 0.5
"""A key is on the screen within that time; the machine may be busy with other tests."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    book = Book(tmp_path / "run.jsonl")
    book.begin([f"t{number:03}" for number in range(400)])
    told = b"".join(b"line %d\n" % number for number in range(300))
    book.attempt("t207", "here", "strong", 0, None, {"verify": told}, void="infra")
    book.close()
    return tmp_path / "run.jsonl"


def row_of_cursor(app: BenchApp) -> int:
    """Lines from the grid's frame down to its cursor."""
    said = lines(app)
    top = next(number for number, line in enumerate(said) if "Tasks" in line)
    return next(number for number, line in enumerate(said) if "› t" in line) - top


async def test_b69_everything_stays_while_500_rows_a_second_arrive(path: Path) -> None:
    app = BenchApp(path, None)
    async with app.run_test(size=(160, 45)) as pilot:
        await shown(pilot, "t000")
        await pilot.press("slash", *"task:t2*", "enter", "s", "s")
        await shown(pilot, "void first")
        await until(pilot, lambda: grid(app).cursor is not None)
        await pilot.press("g", "l", "h")
        await until(pilot, lambda: grid(app).cursor == ("t207", "here", "strong"))
        await until(pilot, lambda: any("line 299" in line for line in lines(app)))
        await pilot.press("f")
        frozen = log(app).lines
        code = WRITER.format(here=str(Path(__file__).parent), path=str(path))
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        await asyncio.to_thread(writer.stdout.readline)
        slowest = 0.0
        line = row_of_cursor(app)
        while writer.poll() is None:
            await pilot.pause(0.1)
            begun = time.monotonic()
            await pilot.press("l")
            await pilot.press("h")
            slowest = max(slowest, (time.monotonic() - begun) / 2)
            assert grid(app).cursor == ("t207", "here", "strong")
            assert log(app).lines == frozen[: len(log(app).lines)], "a taller banner may take its last line"
            assert grid(app).arrangement.sort == "void" and str(grid(app).arrangement.filter) == "task:t2*"
        written = int(writer.stdout.read())
        assert written > 1000
        await until(pilot, lambda: main(app).feed.state.counts.done == written, "every row counted once")
        await shown(pilot, "filter task:t2*")
        assert row_of_cursor(app) == line
        assert slowest < PRESS_S
        await pilot.press("g")
        await until(pilot, lambda: grid(app).cursor is not None and grid(app).cursor[0] == "t207")
