"""Go on with an interrupted run: attempts that were lost are made again as rows that name what they replace.

Nothing is deleted and nothing is mixed: when the study, its tasks, its environments, its agents or this program
changed since the run began, resume refuses and names the fields that differ.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tui_bench.commands import headless, screen
from tui_bench.commands.places import ledger_of
from tui_bench.ledger.runs import Layout

EXAMPLES = """\
examples:
  tui-bench resume runs/20261129T210400Z-3f2a.jsonl
  tui-bench resume 20261129T210400Z-3f2a --jobs 4 --headless
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("--jobs", type=int, metavar="N", help="attempts at once")
    parser.add_argument("--headless", action="store_true", help="no screen")
    parser.add_argument("--plain", action="store_true", help="no screen; one line an event on stdout")
    parser.add_argument("--detach", action="store_true", help="start the runner in the background and return")
    parser.add_argument("--ascii", action="store_true", help="ASCII glyphs on the screen")
    parser.add_argument("--strict", action="store_true", help="an undecided or confounded gate is exit 3")


def execute(args: argparse.Namespace) -> int:
    layout = Layout(ledger_of(Path(args.ledger)).absolute())
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if args.detach or (in_terminal and not args.headless and not args.plain):
        jobs = ["--jobs", str(args.jobs)] if args.jobs is not None else []
        started = screen.start_runner(["resume", str(layout.ledger), "--headless", *jobs], layout)
        if args.detach:
            print(f"started: runner {started.pid}; `tui-bench watch {layout.ledger}` opens it")
            return 0
        return screen.watch_run(layout, started, ascii_glyphs=args.ascii, strict=args.strict)
    return headless.run_resumed(layout, jobs=args.jobs, plain=args.plain, strict=args.strict)
