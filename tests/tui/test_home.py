"""The app without a ledger: recent runs and their state, opening one, going on with one, starting one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from tui_ledgers import START, Book, Clock, run_row, story
from tui_screens import NARROW, WIDE, Link, gone, lines, main, shown, text, until
from tui_terminals import Terminal

from tui_bench import recent
from tui_bench.errors import RunnerError
from tui_bench.recent import Recent
from tui_bench.tui.app import BenchApp
from tui_bench.tui.link import CheckResult, RunnerLink, RunnerState
from tui_bench.tui.run_reader import RunReader
from tui_bench.tui.screens.home import HomeScreen
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.screens.start import StartScreen
from tui_bench.tui.studies import find_studies
from tui_bench.tui.trees import TreeMaker

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J\x9b6n\u202e[bold][/x]"
PLAN = CheckResult(
    study="checkout", tasks=6, environments=("utc", "nepal"), agents=("strong", "weak"), subject="agent", attempts=2,
    jobs=2, flip_rate="1/10", min_pairs="9/10", notes=("no dimension is declared",),
)  # fmt: skip


class Starter:
    """A launcher that starts nothing: it writes a small ledger where a run would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.states: dict[str, RunnerState] = {}
        self.result = PLAN
        self.refusal: str | None = None
        self.started: list[tuple[Path, int | None, int | None]] = []
        self.resumed: list[Path] = []

    def runner(self, ledger: Path) -> RunnerState:
        return self.states.get(ledger.stem, "unknown")

    def link(self, ledger: Path) -> RunnerLink | None:
        return Link() if self.runner(ledger) == "alive" else None

    def trees(self, ledger: Path) -> TreeMaker | None:
        return None

    def check(self, study: Path) -> CheckResult:
        return self.result

    def start(self, study: Path, attempts: int | None, jobs: int | None) -> Path:
        if self.refusal is not None:
            raise RunnerError(self.refusal)
        self.started.append((study, attempts, jobs))
        ledger = self.folder / "runs" / "fresh.jsonl"
        book = Book(ledger)
        book.begin(["new_task"], attempts=1)
        book.close()
        self.states["fresh"] = "alive"
        return ledger

    def resume(self, ledger: Path) -> None:
        if self.refusal is not None:
            raise RunnerError(self.refusal)
        self.resumed.append(ledger)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and a state folder of its own."""
    folder = tmp_path / "bench"
    (folder / "runs").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def app_in(place: Path, clock: Clock | None = None) -> tuple[BenchApp, Starter]:
    starter = Starter(place)
    return BenchApp(None, None, launcher=starter, clock=clock or Clock(START + 600)), starter


def aged(path: Path, age: float) -> None:
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_runs_show_how_they_stand_the_newest_first(place: Path, size: tuple[int, int]) -> None:
    clock = Clock()
    for number, name in enumerate(("ended", "dead", "late", "bad", "live")):
        clock.now = START
        book = story(place / "runs" / f"{name}.jsonl", clock, upto=12 if name == "ended" else 5)
        if name in ("ended", "bad"):
            book.event("ended", outcome="complete")
        book.close()
        aged(book.path, 1000 - 100 * number)
    bad = place / "runs" / "bad.jsonl"
    rows = bad.read_bytes().splitlines(keepends=True)
    rows[50] = b'{"half\n'
    bad.write_bytes(b"".join(rows))
    aged(bad, 650)
    app, starter = app_in(place, Clock(clock.now + 1))
    starter.states = {"dead": "gone", "live": "alive"}
    async with app.run_test(size=size) as pilot:
        for wanted in ("RUNNER LOST", "DAMAGED", "ended", "LIVE ●", "40/88", "88/88", "2 live"):
            await shown(pilot, wanted)
        found = text(app)
        assert found.index("LIVE ●") < found.index("DAMAGED") < found.index("RUNNER LOST") < found.index("ended ")
        assert all(cell_len(line) == size[0] for line in lines(app)) and len(lines(app)) == size[1]
        await shown(pilot, "NO WINNER YET")
        if size == WIDE:
            await shown(pilot, "WINNER strong")
            await shown(pilot, "line 51: not JSON")


async def test_an_empty_folder_says_what_to_do(place: Path) -> None:
    app, _ = app_in(place)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "No runs here yet.")
        await shown(pilot, "tui-bench run sample_config")
        await shown(pilot, "s start")
        await pilot.press("q")
    assert app.return_value is not None and app.return_value.choice == "quit"


async def test_a_run_opens_and_zero_leads_back(place: Path) -> None:
    for name in ("one", "two"):
        book = story(place / "runs" / f"{name}.jsonl", upto=3)
        book.event("ended", outcome="complete")
        book.close()
    aged(place / "runs" / "one.jsonl", 100)
    app, _ = app_in(place)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "24/88")
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await shown(pilot, "t01_page_boundary")
        await pilot.press("6")
        await shown(pilot, "runs/one.jsonl")
        await pilot.press("0")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("k", "enter")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await pilot.press("6")
        await shown(pilot, "runs/two.jsonl")
        assert sum(isinstance(screen, HomeScreen) for screen in app.screen_stack) == 1
        await pilot.press("ctrl+q")
    assert app.return_value is not None and app.return_value.ledger == place / "runs" / "two.jsonl"


async def test_from_a_watched_run_the_list_lies_over_it(place: Path) -> None:
    story(place / "runs" / "one.jsonl", upto=3).close()
    app = BenchApp(place / "runs" / "one.jsonl", None, launcher=Starter(place))
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "t01_page_boundary")
        before = main(app)
        await pilot.press("0")
        await shown(pilot, "Recent runs")
        await shown(pilot, "24/88")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is before, "the same screen again")
        await pilot.press("0")
        await shown(pilot, "Recent runs")
        await pilot.press("escape")
        assert app.screen is before


async def test_a_run_of_another_folder_is_found_by_its_last_use(place: Path, tmp_path: Path) -> None:
    far = tmp_path / "far.jsonl"
    story(far, upto=3).close()
    recent.remember(far)
    recent.remember(tmp_path / "gone.jsonl")
    app, _ = app_in(place)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "24/88")
        await shown(pilot, str(far))
        assert "gone" not in text(app)


async def test_a_lost_run_goes_on_after_a_question(place: Path) -> None:
    story(place / "runs" / "dead.jsonl", upto=3).close()
    app, starter = app_in(place)
    starter.states = {"dead": "gone"}
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "RUNNER LOST")
        await pilot.press("u")
        await shown(pilot, "Resume this run?")
        await pilot.press("escape")
        assert starter.resumed == []
        starter.refusal = "the study changed: tasks differ"
        await pilot.press("u")
        await shown(pilot, "Resume this run?")
        await pilot.press("y")
        await shown(pilot, "the study changed: tasks differ")
        starter.refusal = None
        await pilot.press("u")
        await shown(pilot, "Resume this run?")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
    assert starter.resumed == [place / "runs" / "dead.jsonl"]


async def test_an_ended_run_is_not_resumed(place: Path) -> None:
    book = story(place / "runs" / "one.jsonl", upto=3)
    book.event("ended", outcome="complete")
    book.close()
    app, starter = app_in(place)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await shown(pilot, "ended")
        await pilot.press("u")
        await shown(pilot, "Only a stopped run")
    assert starter.resumed == []


async def test_rows_that_arrive_show_in_the_list_and_a_filter_narrows_it(place: Path) -> None:
    book = story(place / "runs" / "one.jsonl", upto=3)
    story(place / "runs" / "two.jsonl", upto=2).close()
    app, _ = app_in(place)
    async with app.run_test(size=WIDE) as pilot:
        await shown(pilot, "24/88")
        book.attempt("t09_word_split", "here", "weak", 0, True)
        await shown(pilot, "25/88")
        await pilot.press(*"/one.jsonl", "enter")
        await shown(pilot, "1 of 2 runs")
        await gone(pilot, "16/88")
        await pilot.press("escape")
        await shown(pilot, "16/88")
    book.close()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_study_is_checked_adjusted_and_started(place: Path, size: tuple[int, int]) -> None:
    (place / "study").mkdir()
    (place / "study" / "bench.yaml").touch()
    app, starter = app_in(place)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, "No runs here yet.")
        await pilot.press("s")
        await shown(pilot, "› study")
        await shown(pilot, "enter checks")
        await pilot.press("S")
        assert starter.started == [], "nothing starts unchecked"
        await pilot.press("enter")
        await shown(pilot, "48 attempts: 6 tasks x 2 environments x 2 agents x 2")
        await shown(pilot, "flip rate at most 1/10")
        await shown(pilot, "no dimension is declared")
        await pilot.press("plus", "plus", "minus", "l", "plus", "plus")
        await shown(pilot, "72 attempts")
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await shown(pilot, "new_task")
    assert starter.started == [(place / "study", 3, 4)]


async def test_numbers_left_alone_stay_the_studys_own(place: Path) -> None:
    (place / "bench.yaml").touch()
    app, starter = app_in(place)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("s")
        await shown(pilot, "(this folder)")
        await pilot.press("enter")
        await shown(pilot, "48 attempts")
        await pilot.press("minus", "minus", "minus")
        await shown(pilot, "24 attempts")
        await pilot.press("plus", "S")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
    assert starter.started == [(place, None, None)]


async def test_every_problem_of_a_study_is_listed_and_nothing_starts(place: Path) -> None:
    (place / "bench.yaml").touch()
    app, starter = app_in(place)
    starter.result = CheckResult(problems=("bench.yaml:3: attempts: 0 is out of range", f"tasks/a: {HOSTILE}"))
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("s", "enter")
        await shown(pilot, "2 problems")
        await shown(pilot, "attempts: 0 is out of range")
        await shown(pilot, "U+202E")
        assert not {"\x1b", "\x9b", "\u202e"} & set(text(app))
        await pilot.press("S", "plus")
        await pilot.pause(0.1)
        assert isinstance(app.screen, StartScreen)
    assert starter.started == []


async def test_a_runner_that_does_not_come_up_is_a_line_on_the_screen(place: Path) -> None:
    (place / "bench.yaml").touch()
    app, starter = app_in(place)
    starter.refusal = "bubblewrap is missing"
    async with app.run_test(size=NARROW) as pilot:
        await pilot.press("s", "enter")
        await shown(pilot, "48 attempts")
        await pilot.press("S")
        await shown(pilot, "bubblewrap is missing")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


async def test_hostile_runs_are_shown_and_do_nothing(place: Path) -> None:
    book = Book(place / "runs" / "\x1b[2Jname\u202e.jsonl")
    book.begin([f"t{HOSTILE}"], [f"e{HOSTILE}", "f"], [f"a{HOSTILE}"], attempts=1)
    book.event("stopped", outcome=HOSTILE, reason=HOSTILE)
    book.close()
    (place / "runs" / "noise.jsonl").write_bytes(HOSTILE.encode() + b"\n" + os.urandom(5000))
    for size in (WIDE, NARROW):
        app, _ = app_in(place)
        async with app.run_test(size=size) as pilot:
            await shown(pilot, "STOPPED")
            await pilot.press("j", "k", "slash")
            assert not {"\x1b", "\x9b", "\u202e"} & set(text(app))


def test_a_large_ledger_is_known_by_its_ends_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_bench.tui.run_reader.READ_MOST", 10_000)
    book = story(place / "runs" / "one.jsonl")
    book.event("ended", outcome="complete")
    book.close()
    reader = RunReader(book.path)
    reader.step()
    found = reader.summary(START, "unknown")
    assert found.large and not reader.behind
    assert found.facts is not None and (found.facts.life, found.facts.study) == ("ended", "slice12")
    assert found.verdict == ()


def test_a_finished_ledger_is_read_once_and_anew_when_it_is_resumed(place: Path) -> None:
    book = story(place / "runs" / "one.jsonl", upto=3)
    book.event("stopped", reason="asked")
    reader = RunReader(book.path)
    reader.step()
    first = reader.summary(START, "gone")
    assert first.facts is not None and (first.facts.life, first.facts.done, first.resumable) == ("stopped", 24, True)
    book.add(run_row(["strong", "weak"], 2, 96, 2))
    book.attempt("t09_word_split", "here", "weak", 0, True)
    book.event("ended", outcome="complete")
    book.close()
    for _ in range(3):
        reader.step()
    second = reader.summary(START, "gone")
    assert second.facts is not None and (second.facts.done, second.facts.life) == (25, "ended")
    assert not second.damage, "nothing is read twice"


def test_studies_are_those_of_the_folder_and_recent_ones_each_once(tmp_path: Path) -> None:
    for name, sign in (("b", "bench.yaml"), ("a", "envs.tsv"), ("none", "README"), ("far/x", "bench.yaml")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / sign).touch()
    far = tmp_path / "far" / "x"
    found = find_studies(tmp_path, [far, tmp_path / "a", tmp_path / "gone", far / "bench.yaml"])
    assert found == [tmp_path / "a", tmp_path / "b", far, far / "bench.yaml"]


def test_the_registry_keeps_the_last_use_and_the_study_and_survives_noise(place: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    recent.remember(one, tmp_path / "study")
    recent.remember(two)
    recent.remember(one)
    file = recent.state_folder() / recent.FILE_NAME
    assert file.stat().st_mode & 0o777 == 0o600
    with file.open("ab") as noise:
        noise.write(b'\xff\n[]\n{"ledger":3}\n{"ledger":"relative"}\n{"ledger":"/a\\u0000b"}\n' + b"[" * 5000 + b"\n")
    assert recent.recent() == [Recent(one, tmp_path / "study"), Recent(two)]


def test_the_registry_never_grows_without_end(place: Path, tmp_path: Path) -> None:
    file = recent.state_folder() / recent.FILE_NAME
    for number in range(5):
        recent.remember(tmp_path / f"{number}.jsonl")
    line = json.dumps({"ledger": str(tmp_path / "old.jsonl")}).encode() + b"\n"
    with file.open("ab") as handle:
        handle.write(line * (recent.LONGEST // len(line) + 1))
    recent.remember(tmp_path / "last.jsonl")
    assert file.stat().st_size < 10_000
    assert [one.ledger.stem for one in recent.recent()] == ["last", "old", "4", "3", "2", "1", "0"]


def test_a_state_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    recent.remember(tmp_path / "one.jsonl")
    assert recent.recent() == []


def test_the_tool_alone_opens_the_list_in_a_terminal(place: Path) -> None:
    story(place / "runs" / "one.jsonl", upto=3).close()
    terminal = Terminal([sys.executable, "-m", "tui_bench"], 100, 30)
    try:
        terminal.shows("24/88")
        terminal.press("\r")
        terminal.shows("t01_page_boundary")
        terminal.press("q")
        assert terminal.ends() == 0
        # A long path is broken at the terminal's edge.
        assert f"ledger: {place / 'runs' / 'one.jsonl'}" in terminal.text.replace("\n", "")
    finally:
        terminal.close()
