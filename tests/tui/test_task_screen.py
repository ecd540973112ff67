"""The task drill-down in words on the screen: attempts, texts, notes, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from tui_ledgers import START, TASKS, Book, Clock, attempt_row, env_row, story
from tui_screens import NARROW, WIDE, Link, gone, grid, lines, shown, text, until

from tui_bench.ledger.rows import FileRef, PhasesMs, Resources
from tui_bench.tui.app import BenchApp, Departure
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.screens.task import TaskScreen
from tui_bench.tui.widgets.attempts_table import AttemptsTable
from tui_bench.tui.widgets.file_view import FileView

DIFF = (
    b"diff --git a/src/tz.py b/src/tz.py\n--- a/src/tz.py\n+++ b/src/tz.py\n@@ -1,2 +1,3 @@\n"
    b" import x\n-old line\n+new line\n+another line\n"
    b"diff --git a/src/b.py b/src/b.py\n--- a/src/b.py\n+++ b/src/b.py\n@@ -1 +1 @@\n-gone\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def task_screen(app: BenchApp) -> TaskScreen:
    assert isinstance(app.screen, TaskScreen)
    return app.screen


def table(app: BenchApp) -> AttemptsTable:
    return task_screen(app).query_one(AttemptsTable)


def view(app: BenchApp) -> FileView:
    return task_screen(app).query_one(FileView)


def chosen(app: BenchApp) -> tuple[str, str, int]:
    """Environment, agent and number of the attempt under the cursor."""
    now = table(app).chosen
    assert now is not None
    return now.key[1], now.key[2], now.number


async def opened(pilot: Pilot[Departure], *keys: str) -> None:
    """From the grid to the task: `keys` move the cursor, enter opens."""
    await shown(pilot, "t01")
    await pilot.press(*keys, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, TaskScreen), "the task screen")


def with_patch(book: Book, task: str, env: str, agent: str, number: int, passed: bool | None, **fields: Any) -> None:
    """A finished attempt with logs, a diff and measured resources."""
    folder = book.layout.attempt_folder(task, env, agent, number)
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, FileRef] = {}
    for name, file, content in (
        ("patch", "patch.diff", DIFF),
        ("agent_log", "agent.log", b"agent works\n"),
        ("verify_log", "verify.log", b"verify one\n"),
    ):
        (folder / file).write_bytes(content)
        relative = book.layout.relative(folder / file)
        files[name] = FileRef(path=relative, sha256="0" * 64, bytes=len(content))
    (folder / "verify.1.log").write_bytes(b"verify again\n")
    values: dict[str, Any] = {
        "files": files, "wall_ms": 48_200, "verify_runs": [0, 0], "tokens_in": 38_100, "tokens_out": 2_000,
        "phases_ms": PhasesMs(prepare=200, agent=44_100, collect=100, verify=3_000, replays=800),
        "resources": Resources(cpu_ms=1_900, peak_rss_bytes=811_000_000, peak_processes=14, left_over_processes=0),
        "enforced": {"net": "namespace", "mem": "none"}, "host_load": 0.5,
    }  # fmt: skip
    book.add(attempt_row(task, env, agent, number, passed, **{**values, **fields}))


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_enter_opens_the_task_on_the_cell_and_escape_goes_back(path: Path, size: tuple[int, int]) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, "j", "l")
        assert chosen(app) == ("there", "strong", 0)
        await shown(pilot, "Run › t02_tz_offset")
        await shown(pilot, "strong flips with the box: here ✓✓, there ✗✗ (2 of 2 in each).")
        await shown(pilot, "› 1  strong  there  ✗ fail")
        assert all(cell_len(line) == size[0] for line in lines(app))
        assert len(lines(app)) == size[1]
        await pilot.press("j", "tab", "escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert app.focused is grid(app)
        assert grid(app).cursor == ("t02_tz_offset", "there", "strong")


async def test_the_verify_log_of_a_fail_without_a_diff_is_open_first(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, "j", "l")
        await shown(pilot, "FAILED (failures=1)")
        await pilot.press("left_square_bracket")
        await shown(pilot, "edits src/main.py (+3 -1)")
        await pilot.press("j")
        await until(pilot, lambda: chosen(app)[2] == 1)
        await shown(pilot, "edits src/main.py (+3 -1)")
        await pilot.press("left_square_bracket")
        await shown(pilot, "no diff was kept")
        for _ in range(3):
            await pilot.press("right_square_bracket")
        await shown(pilot, "the prompt was not kept beside this ledger; its sha256 is 8888")


async def test_a_diff_shows_its_files_and_counts_and_every_text_has_a_tab(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, True)
    prompt = book.layout.prompt("t01")
    prompt.parent.mkdir(parents=True)
    prompt.write_text("make it so\n")
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await shown(pilot, "Diff │ Agent log │ Verify log │ Replay 1 │ Prompt │ Row")
        await shown(pilot, "2 files +2 -2")
        await shown(pilot, "+2   -1    src/tz.py")
        await shown(pilot, "+another line")
        for wanted in ("agent works", "verify one", "verify again", "make it so", '"agent": "strong",'):
            await pilot.press("right_square_bracket")
            await shown(pilot, wanted)
        assert '"attempt": 0,' in text(app)
        await shown(pilot, "38.1k/2.0k")
        await shown(pilot, "48 s")


async def test_resources_stand_beside_the_text_or_in_a_tab_and_say_null_for_unknown(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=2)
    with_patch(book, "t01", "here", "strong", 0, True)
    with_patch(book, "t01", "here", "strong", 1, True, wall_ms=24_100, resources=Resources(), host_load=None)
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        for wanted in (
            "wall      48 s", "agent 44 s", "peak 811.0 MB", "peak 14   left over 0", "mem none   net namespace",
            "in 38.1k   out 2.0k", "agent 0   verify 0, 0", "local   TZ=UTC", "sh v", "› #1", "  #2",
        ):  # fmt: skip
            await shown(pilot, wanted)
        bars = {line[2:8].strip(): line.count("█") for line in lines(app) if "█" in line and "#" in line}
        assert bars["› #1"] == pytest.approx(bars["#2"], abs=1), "the agent took as long in both"
        await pilot.press("j")
        await shown(pilot, "peak null   left over null   host load null")
        await pilot.resize_terminal(*NARROW)
        await shown(pilot, "│ Resources")
        assert "peak null" not in text(app)
        for _ in range(6):
            await pilot.press("right_square_bracket")
        await shown(pilot, "wall      24 s")


async def test_why_an_attempt_is_void_stands_above_its_text_with_what_to_do(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, None, void="oracle_mutated", void_causes=["oracle_mutated", "hygiene"],
               void_detail="oracle/test.py differs", dropped=["tests/conftest.py"], left_behind=["x.tmp"], capped=True,
               usage_error="names another attempt")  # fmt: skip
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        for wanted in (
            "∅ void oracle_mutated", "void, oracle_mutated: the oracle was changed during the attempt (oracle/test.py",
            "what to do: read patch.diff", "also seen: hygiene", "capped: the agent was ended at its time limit",
            "dropped, not in the verified tree: tests/conftest.py", "verify left behind: x.tmp",
            "usage unknown: names another attempt",
        ):  # fmt: skip
            await shown(pilot, wanted)
        await pilot.resize_terminal(*NARROW)
        await shown(pilot, "what to do: read patch.diff")


async def test_replaced_rows_are_struck_and_probes_stand_aside(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    book.attempt("t01", "here", "strong", 0, None, void="infra")
    book.attempt("t01", "here", "strong", 0, True, replaces=7)
    book.attempt("t01", "there", "strong", 1, False, role="probe")
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await shown(pilot, "Attempts 4 + 1 replaced + 1 probe")
        assert chosen(app) == ("here", "strong", 0)
        await shown(pilot, "1   strong  here   ∅ void infra  1.50 s  replaced")
        await shown(pilot, "p2  strong  there  ✗ fail")
        await shown(pilot, "not scored")
        await shown(pilot, "1 lost attempt run again.  1 probe, not scored.")
        styles = {
            segment.style
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if "void infra" in segment.text and segment.style is not None
        }
        assert all(style.strike for style in styles) and styles
        await pilot.press("G")
        await shown(pilot, "probe: outside the plan, never scored")
        await pilot.press("g")
        await shown(pilot, "replaced: this attempt was lost and run again")


async def test_b69_a_running_attempt_is_followed_until_its_row_comes_and_the_cursor_stays(path: Path) -> None:
    clock = Clock(START)
    book = Book(path, clock)
    book.begin(["t01"], attempts=1)
    ident = book.started("t01", "there", "weak", 0, log=b"thinking\n")
    book.phase(ident, "agent")
    app = BenchApp(path, Link(), clock=clock)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, "l", "l", "l")
        await shown(pilot, "▶ agent 0:0")
        await shown(pilot, "thinking")
        clock.now += 20
        await shown(pilot, "▶ agent 0:2")
        folder = book.layout.attempt_folder("t01", "there", "weak", 0)
        with (folder / "agent.log").open("ab") as handle:
            handle.write(b"speaking\n")
        await shown(pilot, "speaking")
        book.started("t01", "here", "strong", 0, log=b"noise\n")
        book.attempt("t01", "here", "strong", 0, None, void="infra")
        book.attempt("t01", "here", "strong", 0, True, replaces=9)
        await shown(pilot, "1 lost attempt run again.")
        assert chosen(app) == ("there", "weak", 0)
        book.attempt("t01", "there", "weak", 0, False, {"agent": b"thinking\nspeaking\n", "verify": b"E assert\n"})
        await shown(pilot, "› 1  weak    there  ✗ fail")
        await pilot.press("f")
    book.close()


async def test_a_frozen_log_stays_when_its_attempt_ends(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    book.started("t01", "here", "strong", 0, log=b"one\n" * 90)
    app = BenchApp(path, Link())
    async with app.run_test(size=NARROW) as pilot:
        await opened(pilot)
        await shown(pilot, "following")
        await pilot.press("f")
        await shown(pilot, "frozen")
        before = view(app).lines
        folder = book.layout.attempt_folder("t01", "here", "strong", 0)
        with (folder / "agent.log").open("ab") as handle:
            handle.write(b"two\n" * 50)
        book.attempt("t01", "here", "strong", 0, True, {"verify": b"fine\n"})
        await shown(pilot, "› 1  strong  here   ✓ pass")
        assert view(app).lines == before
        await pilot.press("j")
        await gone(pilot, "frozen")
    book.close()


async def test_h_and_l_go_to_the_same_attempt_in_the_other_environment(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await opened(pilot, "j", "l")
        await pilot.press("j")
        assert chosen(app) == ("there", "strong", 1)
        await pilot.press("h")
        assert chosen(app) == ("here", "strong", 1)
        await pilot.press("h")
        assert chosen(app) == ("here", "strong", 1)
        await pilot.press("l")
        assert chosen(app) == ("there", "strong", 1)
        await pilot.press("n")
        assert chosen(app) == ("here", "weak", 0), "the next one that failed"
        await pilot.press("N", "N")
        assert chosen(app) == ("there", "strong", 0)


async def test_a_search_goes_from_match_to_match_and_escape_ends_it_first(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await opened(pilot, "j", "l")
        await shown(pilot, "FAILED")
        await pilot.press("tab", "g", "slash", *"case_2", "enter")
        await shown(pilot, "/case_2 1 of 11")
        assert app.focused is view(app)
        assert any("test_case_2 " in line for line in view(app).lines)
        await pilot.press("n", "n")
        await shown(pilot, "/case_2 3 of 11")
        await pilot.press("N")
        await shown(pilot, "/case_2 2 of 11")
        await pilot.press("slash", "ctrl+u", *"no such thing", "enter")
        await shown(pilot, "no such thing: not in this text")
        await pilot.press("escape")
        await gone(pilot, "/no such thing")
        assert isinstance(app.screen, TaskScreen)
        await pilot.press("slash", *"abc", "escape")
        assert app.focused is view(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_what_is_copied_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, True, verify_cmd=["sh", "-c", "cat $ORACLE_DIR/x; \x1b[2J"])
    book.close()
    taken: list[str] = []
    app = BenchApp(path, None)
    monkeypatch.setattr(app, "copy_to_clipboard", taken.append)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        await shown(pilot, "+another line")
        for key, said in (("d", "Copied diff"), ("r", "Copied row"), ("p", "Copied path"), ("c", "Copied command")):
            await pilot.press("y")
            await shown(pilot, "the agent's change")
            await pilot.press(key)
            await shown(pilot, said)
        await pilot.press("y")
        await shown(pilot, "the agent's change")
        await pilot.press("escape")
    assert taken[0] == DIFF.decode()
    assert json.loads(taken[1])["kind"] == "attempt"
    assert taken[2].endswith("patch.diff")
    assert "\x1b" not in taken[3] and taken[3].startswith("sh -c ")
    assert len(taken) == 4


async def test_what_cannot_be_lent_is_said(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, True)
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        await shown(pilot, "+another line")
        await pilot.press("o")
        await shown(pilot, "this terminal cannot be lent")
        await pilot.press("exclamation_mark")
        await shown(pilot, "No copy of the tree: the study of this run is not known")
        await pilot.press("escape")
        await gone(pilot, "No copy of the tree")


@pytest.mark.parametrize(("focus", "unseen"), [([], "verify one"), (["tab"], "tokens in/out")])
async def test_a_pane_can_have_the_screen_alone(path: Path, focus: list[str], unseen: str) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, False)
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await opened(pilot)
        await shown(pilot, "+2   -1    src/tz.py")
        await pilot.press("right_square_bracket", "right_square_bracket")
        await shown(pilot, "verify one")
        await shown(pilot, "tokens in/out")
        await pilot.press(*focus, "z")
        await gone(pilot, unseen)
        await pilot.press("escape")
        await shown(pilot, unseen)
        assert isinstance(app.screen, TaskScreen)


async def test_an_excluded_task_and_one_that_has_not_begun_open_too(path: Path) -> None:
    story(path, upto=9).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, *["j"] * 9)
        await shown(pilot, "Set apart before the run, already_solved in here")
        await shown(pilot, "– set apart")
        await shown(pilot, "this attempt has not begun")
        await pilot.press("escape", "j", "enter")
        await shown(pilot, TASKS[10])
        await shown(pilot, "· queued")


async def test_a_ledger_that_is_replaced_is_shown_anew(path: Path, tmp_path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, "j")
        await shown(pilot, "strong flips with the box")
        other = Book(tmp_path / "other.jsonl")
        other.begin([TASKS[1]], attempts=1)
        other.attempt(TASKS[1], "here", "weak", 0, True)
        other.close()
        other.path.replace(path)
        await shown(pilot, "Attempts 4")
        await shown(pilot, "Passes so far: 1 of 1 attempt.  3 of 4 attempts left.")


async def test_a_row_or_a_file_that_is_gone_is_said_where_it_would_stand(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    with_patch(book, "t01", "here", "strong", 0, True)
    with_patch(book, "t01", "there", "strong", 0, True, files={
        "patch": FileRef(path="../../secret", sha256="0" * 64, bytes=1)})  # fmt: skip
    book.close()
    (book.layout.attempt_folder("t01", "here", "strong", 0) / "patch.diff").unlink()
    (path.parent.parent / "secret").write_text("never shown\n")
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await shown(pilot, "patch.diff is not there any more")
        await pilot.press("l")
        await until(pilot, lambda: chosen(app)[0] == "there")
        await pilot.pause(0.3)
        assert "never shown" not in text(app)


async def test_a_limit_that_the_environment_has_stands_beside_what_was_used(path: Path) -> None:
    book = Book(path)
    book.begin(["t01"], attempts=1)
    book.add(msgspec.structs.replace(env_row("here"), facts={"setting.memory_mb": "2048", "setting.cpus": "2"}))
    with_patch(book, "t01", "here", "strong", 0, True)
    book.close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await shown(pilot, "peak 811.0 MB of 2048 MB")
        await shown(pilot, "0.0 of 2 cpus on average")


async def test_the_mouse_chooses_attempts_and_tabs(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, "j")
        await shown(pilot, "› 1  strong  here")
        row = next(y for y, line in enumerate(lines(app)) if "2  weak    there" in line)
        await pilot.click(offset=(12, row))
        await until(pilot, lambda: chosen(app) == ("there", "weak", 1))
        head = next(y for y, line in enumerate(lines(app)) if "Agent log" in line)
        await pilot.click(offset=(lines(app)[head].index("Agent log") + 2, head))
        await shown(pilot, "weak reads t02_tz_offset")
