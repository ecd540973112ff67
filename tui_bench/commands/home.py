"""The app without a ledger: recent runs, open one, start one."""

from __future__ import annotations

import sys

from tui_bench.cleaning import clean
from tui_bench.commands.launcher import LocalLauncher
from tui_bench.commands.verdict_text import closing_lines
from tui_bench.engine.requests import RequestClient
from tui_bench.errors import LedgerError
from tui_bench.ledger.runs import Layout
from tui_bench.reading import read_ledger


def open_home() -> int:
    """Show the recent runs until the screen is left; afterwards say how the run stands that was open last."""
    from tui_bench.tui.app import run_app

    left = run_app(None, None, launcher=LocalLauncher())
    if left.ledger is None:
        return left.code
    if RequestClient(Layout(left.ledger).runner).alive:
        print(clean(f"the run goes on: `tui-bench watch {left.ledger}` opens it again"))
        return left.code
    try:
        state = read_ledger(left.ledger)
    except LedgerError as error:
        print(clean(f"tui-bench: {error}"), file=sys.stderr)
        return left.code
    for line in closing_lines(state, left.ledger, strict=False):
        print(line)
    return left.code
