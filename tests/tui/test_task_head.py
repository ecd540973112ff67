"""The head line of the task drill-down: whole sentences, and the last thing that is left on a tiny screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from tui_ledgers import story
from tui_screens import NARROW, gone, shown

from tui_bench.tui.app import BenchApp
from tui_bench.tui.widgets.head_line import whole_sentences


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def test_on_a_tiny_screen_the_head_line_stands_alone(path: Path) -> None:
    story(path).close()
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t02_")
        await pilot.press("j", "enter")
        await shown(pilot, "Attempts")
        await pilot.resize_terminal(50, 10)
        await gone(pilot, "Attempts")
        await shown(pilot, "strong flips with the box")
        await pilot.resize_terminal(*NARROW)
        await shown(pilot, "Attempts")


def test_the_head_is_cut_between_sentences() -> None:
    said = ["strong flips with the box: utc ✓✓, nepal ✗✗.", "Same-box attempts agree.", "Oracle intact in all 8."]
    assert whole_sentences(said, 120, 1) == "  ".join(said)
    assert whole_sentences(said, 80, 1) == "  ".join(said[:2])
    assert whole_sentences(said, 30, 1) == said[0]
    assert whole_sentences(said, 10, 99) == "  ".join(said)
