"""Go on with an interrupted run: attempts that were lost are made again as rows that name what they replace.

Nothing is deleted and nothing is mixed: when the study, its tasks, its environments, its agents or this program
changed since the run began, resume refuses and names the fields that differ.

With --rerun or --rerun-flips only that is made: a probe, which nothing counts, or fresh attempts of every flipped task
in both environments, registered before the first of them runs. They say whether the box made the flip or the agent
would have changed its verdict anyway. What was registered and cut off is made by a plain resume too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tui_bench.commands import headless, screen
from tui_bench.commands.places import ledger_of, whole_number
from tui_bench.engine.reruns import FRESH, Asked, fresh_wanted
from tui_bench.ledger.runs import Layout
from tui_bench.recent import remember

EXAMPLES = """\
examples:
  tui-bench resume runs/20261129T210400Z-3f2a.jsonl
  tui-bench resume 20261129T210400Z-3f2a --jobs 4 --headless
  tui-bench resume 20261129T210400Z-3f2a --rerun-flips        5 fresh attempts a side of every flipped task
  tui-bench resume 20261129T210400Z-3f2a --rerun-flips 8
  tui-bench resume 20261129T210400Z-3f2a --rerun 9c41d0b7f2a85e13
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("--jobs", type=whole_number, metavar="N", help="attempts at once")
    beyond = parser.add_mutually_exclusive_group()
    beyond.add_argument("--rerun", metavar="ATTEMPT_ID", help="only a probe: one more attempt of that cell")
    beyond.add_argument(
        "--rerun-flips", nargs="?", const=str(FRESH), metavar="K",
        help=f"only the registered re-run of the flips, K fresh attempts a side (default {FRESH})",
    )  # fmt: skip
    parser.add_argument("--headless", action="store_true", help="no screen")
    parser.add_argument("--plain", action="store_true", help="no screen; one line an event on stdout")
    parser.add_argument("--detach", action="store_true", help="start the runner in the background and return")
    parser.add_argument("--ascii", action="store_true", help="ASCII glyphs on the screen")
    parser.add_argument("--strict", action="store_true", help="an undecided or confounded gate is exit 3")


def execute(args: argparse.Namespace) -> int:
    layout = Layout(ledger_of(Path(args.ledger)).absolute())
    remember(layout.ledger)
    asked = _asked(args)
    in_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if args.detach or (in_terminal and not args.headless and not args.plain):
        started = screen.start_runner(["resume", str(layout.ledger), "--headless", *_words(args)], layout)
        if args.detach:
            print(f"started: runner {started.pid}; `tui-bench watch {layout.ledger}` opens it")
            return 0
        return screen.watch_run(layout, started, ascii_glyphs=args.ascii, strict=args.strict)
    return headless.run_resumed(layout, jobs=args.jobs, asked=asked, plain=args.plain, strict=args.strict)


def _asked(args: argparse.Namespace) -> Asked | None:
    if args.rerun is not None:
        return Asked(attempt_id=args.rerun)
    return Asked(flips=fresh_wanted(args.rerun_flips)) if args.rerun_flips is not None else None


def _words(args: argparse.Namespace) -> list[str]:
    """The same options for the runner's own process."""
    given = (("--jobs", args.jobs), ("--rerun", args.rerun), ("--rerun-flips", args.rerun_flips))
    return [f"{option}={value}" for option, value in given if value is not None]
