"""Leaving, pausing, stopping: what a key asks, what the runner is told, and what is never done without a yes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tui_ledgers import story
from tui_screens import NARROW, WIDE, Link, gone, shown, until

from tui_bench.tui.app import BenchApp
from tui_bench.tui.screens.quit import QuitScreen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def test_q_without_a_run_quits(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("q")
    assert app.return_value is not None
    assert app.return_value.choice == "quit"


@pytest.mark.parametrize(("key", "choice", "asked"), [("d", "detach", []), ("s", "stop", ["stop"])])
async def test_q_with_a_run_asks_what_becomes_of_it(path: Path, key: str, choice: str, asked: list[str]) -> None:
    story(path, upto=3).close()
    link = Link()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("q")
        await shown(pilot, "A run is in progress: 0 running, 64 left")
        await pilot.press("escape")
        await gone(pilot, "A run is in progress")
        assert app.return_value is None
        await pilot.press("q")
        await shown(pilot, "the runner goes on")
        await pilot.press(key)
    assert app.return_value is not None
    assert app.return_value.choice == choice
    assert link.asked == asked


@pytest.mark.parametrize(("presses", "choice"), [(["ctrl+q"], "detach"), (["ctrl+c", "ctrl+c"], "detach")])
async def test_leaving_at_once_never_touches_the_run(path: Path, presses: list[str], choice: str) -> None:
    story(path, upto=3).close()
    link = Link()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        for key in presses:
            await pilot.press(key)
            await pilot.pause(0.05)
    assert app.return_value is not None
    assert app.return_value.choice == choice
    assert link.asked == []


async def test_ctrl_c_with_a_run_opens_the_question(path: Path) -> None:
    story(path, upto=3).close()
    app = BenchApp(path, Link())
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: isinstance(app.screen, QuitScreen))


async def test_p_pauses_and_resumes_by_what_the_ledger_says(path: Path) -> None:
    book = story(path, upto=3)
    link = Link()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("p")
        await until(pilot, lambda: link.asked == ["pause"])
        book.event("paused")
        await shown(pilot, "PAUSED")
        await pilot.press("p")
        await until(pilot, lambda: link.asked == ["pause", "resume"])
    book.close()


async def test_x_stops_the_run_only_after_a_yes(path: Path) -> None:
    story(path, upto=3).close()
    link = Link()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("X")
        await shown(pilot, "Stop the run?")
        await pilot.press("escape")
        await gone(pilot, "Stop the run?")
        assert link.asked == []
        await pilot.press("X")
        await shown(pilot, "void: operator_stopped")
        await pilot.press("y")
        await until(pilot, lambda: link.asked == ["stop"])


async def test_b65_a_refusal_in_hostile_words_is_shown_as_it_is(path: Path) -> None:
    story(path, upto=3).close()
    app = BenchApp(path, Link(refusal="no: see [/usr/bin/x] [bold] \x1b]0;t\x07 [@click=app.quit]x[/]"))
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("p")
        await shown(pilot, "no: see [/usr/bin/x] [bold]")


async def test_without_a_runner_control_keys_say_so(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("p")
        await shown(pilot, "Cannot pause: no runner")
        await pilot.press("X")
        await shown(pilot, "Cannot stop")
