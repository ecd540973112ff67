"""Themes, terminals that cannot show a screen, pictures, and what the room may import."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from textual.theme import Theme
from tui_ledgers import story
from tui_screens import NARROW, main, shown, until

from tui_bench.errors import UsageError
from tui_bench.tui.app import BenchApp, run_app
from tui_bench.tui.themes import OURS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    story(tmp_path / "run.jsonl").close()
    return tmp_path / "run.jsonl"


@pytest.mark.parametrize(
    "theme", ["bench-dark", "bench-light", "bench-safe", "nord", "textual-light", "ansi-dark", "no such theme"]
)
async def test_every_theme_shows_the_grid(path: Path, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_THEME", theme)
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await shown(pilot, "t02_tz_offset       │ ✓✓    ✗✗")
        assert app.theme == (theme if theme in app.available_themes else "bench-dark")
        ground = app.current_theme.background
        if ground is not None and theme.startswith("bench-"):
            assert app.screen.background_colors[1].hex.lower() == ground


@pytest.mark.parametrize("chosen", OURS, ids=lambda theme: theme.name)
def test_verdict_colours_differ_and_stand_out_from_the_ground(chosen: Theme) -> None:
    assert chosen.background is not None
    names = ("bench-pass", "bench-fail", "bench-void", "bench-running", "bench-muted")
    colours = [chosen.variables[name] for name in names]
    assert len(set(colours)) == len(colours)
    for colour in colours:
        assert contrast(colour, chosen.background) >= 4.5, colour


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two `#rrggbb` colours by the usual luminance formula, 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(part, 16) / 255 for part in re.findall("..", colour.lstrip("#"))]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("term", ["dumb", "", None])
def test_b70_a_terminal_that_cannot_is_refused_with_the_cure(
    path: Path, term: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if term is None:
        monkeypatch.delenv("TERM", raising=False)
    else:
        monkeypatch.setenv("TERM", term)
    with pytest.raises(UsageError, match="--headless or --plain"):
        run_app(path, None)


async def test_ctrl_s_saves_a_picture_in_the_current_folder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: list((tmp_path / "here").glob("tui_bench-*.svg")))
        await shown(pilot, "Saved")
    picture = next((tmp_path / "here").glob("*.svg")).read_text("utf-8")
    assert "t01_page_boundary" in picture


async def test_a_picture_that_cannot_be_saved_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, text: str, encoding: str) -> int:
        raise PermissionError(13, "Permission denied [/x]")

    app = BenchApp(path, None)
    async with app.run_test(size=NARROW, notifications=True) as pilot:
        await shown(pilot, "t01")
        monkeypatch.setattr(Path, "write_text", refuse)
        await pilot.press("ctrl+s")
        await shown(pilot, "denied [/x]")


async def test_the_collector_runs_again_once_the_ledger_is_read(path: Path) -> None:
    with path.open("ab") as handle:
        handle.write(b'{"kind":"later","v":1}\n' * 100_000)
    app = BenchApp(path, None)
    async with app.run_test(size=NARROW) as pilot:
        await until(pilot, lambda: not main(app).feed.behind)
        await shown(pilot, "88/88")
        assert gc.isenabled()


def test_cleaning_for_plain_output_does_not_load_the_screen() -> None:
    said = (
        "import sys, tui_bench.cleaning; print(any(name.split('.')[0] in ('textual', 'rich') for name in sys.modules))"
    )
    told = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert told.stdout.strip() == "False"


def test_the_screen_knows_nothing_of_the_engine() -> None:
    said = "import sys, tui_bench.tui.app; print([name for name in sys.modules if name.startswith('tui_bench.engine')])"
    told = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert told.stdout.strip() == "[]"


def test_a_theme_of_ours_named_by_the_variable_has_its_colours(path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tui_bench.tui.app import BenchApp\n"
        "async def main():\n"
        "    app = BenchApp(Path(sys.argv[1]), None)\n"
        "    async with app.run_test() as pilot:\n"
        "        await pilot.pause(0.2)\n"
        "        print(app.screen.background_colors[1].hex.lower())\n"
        "asyncio.run(main())\n"
    )
    words = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env={**os.environ, "TEXTUAL_THEME": "bench-light"}
    )
    assert done.stdout.strip() == OURS[1].background
