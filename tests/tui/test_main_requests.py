"""Requests to a runner: what costs is asked first, what cannot be done says why and what to type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tui_ledgers import RUN, TASKS, Book, attempt_row, story
from tui_screens import NARROW, Link, gone, grid, log, shown, until

from tui_bench.ledger.rows import EventRow
from tui_bench.tui.app import BenchApp


class Asked(Link):
    """Notes the arguments too."""

    def __init__(self, alive: bool = True) -> None:
        super().__init__(alive)
        self.requests: list[tuple[str, object]] = []

    async def request(self, do: str, arg: object = None) -> dict[str, Any]:
        self.requests.append((do, arg))
        return await super().request(do, arg)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def test_plus_and_minus_start_from_what_the_ledger_says(path: Path) -> None:
    book = story(path, upto=3)
    link = Asked()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("plus")
        await until(pilot, lambda: link.requests == [("jobs", 3)])
        book.add(EventRow(run_id=RUN, event="request", detail={"do": "jobs", "arg": 3}))
        await shown(pilot, "0 of 3 running")
        for wanted in (2, 1):
            await pilot.press("minus")
            await until(pilot, lambda wanted=wanted: link.requests[-1] == ("jobs", wanted))
            book.add(EventRow(run_id=RUN, event="request", detail={"do": "jobs", "arg": wanted}))
            await shown(pilot, f"0 of {wanted} running")
        await pilot.press("minus")
        await shown(pilot, "One attempt at a time is the least")
        assert len(link.requests) == 3
    book.close()


async def test_x_stops_the_attempt_under_the_cursor_and_nothing_else(path: Path) -> None:
    book = Book(path)
    book.begin(["a", "b"], attempts=1)
    other = book.started("a", "here", "strong", 0)
    ident = book.started("b", "there", "weak", 0)
    link = Asked()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "▶")
        await pilot.press("l", "x")
        await shown(pilot, "No attempt of this cell is running")
        await pilot.press("j", "l", "l", "x")
        await shown(pilot, "Stop this attempt?")
        await shown(pilot, "b · weak · there · #1")
        await shown(pilot, "void: operator_stopped, never as a fail")
        await pilot.press("n")
        await gone(pilot, "Stop this attempt?")
        assert link.requests == []
        await pilot.press("x", "y")
        await until(pilot, lambda: link.requests == [("cancel", ident)])
        assert other != ident
    book.close()


async def test_r_runs_the_chosen_attempt_again_as_a_probe(path: Path) -> None:
    story(path, upto=6).close()
    link = Asked()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t01")
        await pilot.press("j", "l", "right_square_bracket")
        await until(pilot, lambda: "#2" in str(log(app).border_title))
        await pilot.press("r")
        await shown(pilot, "Run this attempt again, as a probe?")
        await shown(pilot, f"{TASKS[1]} · strong · there · #2")
        await shown(pilot, "never scored")
        await shown(pilot, "About 1–2 s.")
        await pilot.press("y")
        wanted = attempt_row(TASKS[1], "there", "strong", 1, False).attempt_id
        await until(pilot, lambda: link.requests == [("rerun", wanted)])


async def test_shift_r_registers_the_flips_and_says_how_many_and_how_long(path: Path) -> None:
    book = story(path, upto=6)
    link = Asked()
    app = BenchApp(path, link)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("R")
        await shown(pilot, "Re-run the flips, registered?")
        await shown(pilot, "5 fresh attempts in each of 2 cells of 1 flipped task: 10.")
        await shown(pilot, "About 7–8 s.")
        await pilot.press("y")
        await until(pilot, lambda: link.requests == [("rerun_flips", 5)])
        cells = [[TASKS[1], env, "strong", 2] for env in ("here", "there")]
        detail = {"do": "rerun_flips", "arg": 5, "k": 5, "cells": cells}
        book.add(EventRow(run_id=RUN, event="request", detail=detail))
        await shown(pilot, "t01")
    book.close()


@pytest.mark.parametrize(
    ("key", "cure"),
    [("p", "Cannot pause"), ("X", "Cannot stop"), ("plus", "--jobs N"), ("r", "--rerun "), ("R", "--rerun-flips")],
)
async def test_without_a_runner_each_key_says_why_and_what_to_type(path: Path, key: str, cure: str) -> None:
    book = story(path)
    book.event("ended", outcome="complete")
    book.close()
    link = Asked(alive=False)
    app = BenchApp(path, link)
    async with app.run_test(size=(200, 40), notifications=True) as pilot:
        await shown(pilot, "ENDED")
        await until(pilot, lambda: grid(app).cursor is not None)
        await pilot.press(key)
        await shown(pilot, "the run has ended")
        await shown(pilot, cure)
        assert link.requests == []


async def test_the_same_word_is_said_once_within_five_seconds(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        before = len(app._notifications)
        await pilot.press("p", "p", "p", "p")
        await shown(pilot, "Cannot pause")
        assert len(app._notifications) == before + 1
