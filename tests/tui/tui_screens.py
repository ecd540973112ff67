"""The app in a test: waiting for what a person would see, and a runner that only notes what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from tui_bench.errors import RunnerError
from tui_bench.tui.app import BenchApp, Departure
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.log_tail import LogTail

WIDE = (160, 45)
NARROW = (80, 24)
PATIENCE_S = 60.0


class Link:
    """A runner's line. `refusal` makes it answer with an error."""

    def __init__(self, alive: bool = True, refusal: str | None = None) -> None:
        self.alive = alive
        self.refusal = refusal
        self.asked: list[str] = []

    async def request(self, do: str, arg: object = None) -> dict[str, Any]:
        self.asked.append(do)
        if self.refusal is not None:
            raise RunnerError(self.refusal)
        return {"ok": True}


def lines(app: BenchApp) -> list[str]:
    """The screen as lines of text."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def text(app: BenchApp) -> str:
    return "\n".join(lines(app))


def main(app: BenchApp) -> MainScreen:
    return next(screen for screen in app.screen_stack if isinstance(screen, MainScreen))


def grid(app: BenchApp) -> Grid:
    return main(app).query_one(Grid)


def log(app: BenchApp) -> LogTail:
    return main(app).query_one(LogTail)


async def until(pilot: Pilot[Departure], condition: Callable[[], object], what: str = "") -> None:
    """Let the app run until `condition` holds; fails with the screen's text when it does not come true."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"never came true: {what}\n{text(pilot.app)}")  # type: ignore[arg-type]
        await pilot.pause(0.02)


async def shown(pilot: Pilot[Departure], wanted: str) -> None:
    """Wait until `wanted` stands on the screen."""
    await until(pilot, lambda: wanted in text(pilot.app), f"{wanted!r} on the screen")  # type: ignore[arg-type]


async def gone(pilot: Pilot[Departure], unwanted: str) -> None:
    """Wait until `unwanted` stands nowhere on the screen."""
    await until(pilot, lambda: unwanted not in text(pilot.app), f"no {unwanted!r}")  # type: ignore[arg-type]
