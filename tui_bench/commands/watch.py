"""Open a ledger on the screen, live or finished; without a terminal print its banner.

The screen only reads the ledger and sends requests to the runner: closing it never loses a run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tui_bench.commands import screen
from tui_bench.commands.places import ledger_of
from tui_bench.commands.plain import follow
from tui_bench.commands.verdict_text import closing_lines, exit_code
from tui_bench.ledger.runs import Layout
from tui_bench.reading import read_ledger
from tui_bench.recent import remember

EXAMPLES = """\
examples:
  tui-bench watch runs/20261129T210400Z-3f2a.jsonl
  tui-bench watch 20261129T210400Z-3f2a --ascii
  tui-bench watch 20261129T210400Z-3f2a --plain | tee run.txt
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("--ascii", action="store_true", help="ASCII glyphs")
    parser.add_argument("--plain", action="store_true", help="no screen; one line an event, until the run is over")
    parser.add_argument("--strict", action="store_true", help="an undecided or confounded gate is exit 3")


def execute(args: argparse.Namespace) -> int:
    layout = Layout(ledger_of(Path(args.ledger)).absolute())
    remember(layout.ledger)
    if args.plain:
        return follow(layout, sys.stdout, strict=args.strict)
    if sys.stdin.isatty() and sys.stdout.isatty():
        return screen.watch_run(layout, None, ascii_glyphs=args.ascii, strict=args.strict)
    state = read_ledger(layout.ledger)
    for line in closing_lines(state, layout.ledger, strict=args.strict):
        print(line)
    return exit_code(state, strict=args.strict)
