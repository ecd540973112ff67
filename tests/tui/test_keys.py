"""The key table: one meaning a key, nothing bound without an action, help and footer from the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tui_ledgers import story
from tui_screens import gone, shown

from tui_bench.tui import keys
from tui_bench.tui.app import BenchApp
from tui_bench.tui.screens.confirm import ConfirmScreen
from tui_bench.tui.screens.copy import CopyScreen
from tui_bench.tui.screens.help import HelpScreen
from tui_bench.tui.screens.home import HomeScreen
from tui_bench.tui.screens.ledger import LedgerScreen
from tui_bench.tui.screens.main import MainScreen
from tui_bench.tui.screens.notice import NoticeScreen
from tui_bench.tui.screens.quit import QuitScreen
from tui_bench.tui.screens.start import StartScreen
from tui_bench.tui.screens.task import TaskScreen
from tui_bench.tui.widgets.attempts_table import AttemptsTable
from tui_bench.tui.widgets.choices import ChoiceList
from tui_bench.tui.widgets.file_view import FileView
from tui_bench.tui.widgets.filter_bar import FilterInput
from tui_bench.tui.widgets.grid import Grid
from tui_bench.tui.widgets.log_tail import LogTail
from tui_bench.tui.widgets.resources import Resources
from tui_bench.tui.widgets.row_pane import RowPane
from tui_bench.tui.widgets.rows_table import RowsTable
from tui_bench.tui.widgets.search_line import SearchLine

OWNERS: dict[keys.Scope, tuple[type, ...]] = {
    "app": (BenchApp,), "run": (MainScreen,), "pane": (Grid, LogTail, HelpScreen, RowsTable, RowPane,
             AttemptsTable, FileView, Resources, ChoiceList),
    "grid": (Grid,), "log": (LogTail,), "help": (HelpScreen,), "quit": (QuitScreen,), "confirm": (ConfirmScreen,),
    "notice": (NoticeScreen,),
    "views": (BenchApp,), "ledger": (LedgerScreen,), "rows": (RowsTable,), "filter": (FilterInput,),
    "home": (HomeScreen,), "start": (StartScreen,),
    "task": (TaskScreen,), "attempts": (AttemptsTable,), "search": (SearchLine,), "copy": (CopyScreen,),
}  # fmt: skip


@pytest.mark.parametrize("screen", keys.SCREENS)
def test_a_key_has_one_meaning_on_a_screen(screen: str) -> None:
    seen: dict[str, str] = {}
    for row in keys.of(*keys.SCREENS[screen]):
        for key in row.keys.split(","):
            assert key not in seen, f"{key} means {seen.get(key)} and {row.id}"
            seen[key] = row.id


def test_ids_are_unique_and_every_text_is_there_and_short_enough() -> None:
    assert len({row.id for row in keys.KEYS}) == len(keys.KEYS)
    for row in keys.KEYS:
        assert row.label and row.tooltip and row.short, row.id
        assert len(row.short) <= 9, row.id
        assert len(row.tooltip) <= 34, f"{row.id}: wraps in the help screen"
        assert row.shown(True).isascii(), row.id


@pytest.mark.parametrize("row", keys.KEYS, ids=lambda row: row.id)
def test_no_key_is_dead(row: keys.Key) -> None:
    name = row.action.removeprefix("app.").split("(")[0]
    owners = (BenchApp,) if row.action.startswith("app.") else OWNERS[row.scope]
    for owner in owners:
        assert hasattr(owner, f"action_{name}"), f"{row.id}: {owner.__name__} has no action_{name}"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 160])
def test_the_footer_fits_and_keeps_what_matters_most(width: int) -> None:
    chosen = keys.footer(keys.of("app", "run", "pane", "grid"), width, False)
    assert sum(len(hint) + 2 for _, hint in chosen) <= width
    shown = [row.id for row, _ in chosen]
    if width >= 40:
        assert {"help", "view.quit"} <= set(shown)


async def test_help_lists_every_key_of_the_screen(tmp_path: Path) -> None:
    story(tmp_path / "run.jsonl").close()
    app = BenchApp(tmp_path / "run.jsonl", None)
    async with app.run_test(size=(160, 60)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        for row in keys.of(*keys.SCREENS["run"]):
            assert row.tooltip in text, row.id
        await pilot.press("q")
        assert isinstance(app.screen, MainScreen), "q closes the top layer first"


async def test_a_keymap_moves_a_binding_by_its_id(tmp_path: Path) -> None:
    story(tmp_path / "run.jsonl").close()
    app = BenchApp(tmp_path / "run.jsonl", None)
    async with app.run_test(size=(80, 24)) as pilot:
        app.set_keymap({"help": "f5"})
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)


def test_the_page_of_keys_is_the_table() -> None:
    written = (Path(__file__).parents[2] / "docs" / "keys.md").read_text("utf-8")
    assert written == keys.page(), "python -m tui_bench.tui.keys > docs/keys.md"
    assert set(keys.PAGES) == set(keys.SCREENS)
    for row in keys.KEYS:
        assert row.tooltip in written, row.id


async def test_the_palette_offers_every_action_with_its_key_and_does_it(tmp_path: Path) -> None:
    story(tmp_path / "run.jsonl").close()
    app = BenchApp(tmp_path / "run.jsonl", None)
    async with app.run_test(size=(120, 70)) as pilot:
        await shown(pilot, "t01")
        await pilot.press("ctrl+p")
        for row in keys.of(*keys.SCREENS["run"]):
            if row.rank and not row.id.startswith("move.") and row.id != "palette":
                await shown(pilot, f"{row.short:<9} {row.tooltip}  {row.label}")
        await pilot.press(*"slowest")
        await gone(pilot, "pause or resume")
        await pilot.press("escape", "ctrl+p", *"next order", "down", "enter")
        await shown(pilot, "flips first")
        assert isinstance(app.screen, MainScreen)
