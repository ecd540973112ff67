"""Ask a running run for something; for scripts and other terminals.

RUN is a ledger, or a run id whose ledger lies in runs/. The answer is one JSON line on stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from tui_bench.commands.places import ledger_of
from tui_bench.engine.requests import DO, RequestClient
from tui_bench.errors import UsageError
from tui_bench.ledger.runs import Layout

EXAMPLES = """\
examples:
  tui-bench ctl runs/20261129T210400Z-3f2a.jsonl status
  tui-bench ctl 20261129T210400Z-3f2a jobs 4
  tui-bench ctl 20261129T210400Z-3f2a cancel 9c41d0b7f2a85e13
  tui-bench ctl 20261129T210400Z-3f2a rerun 9c41d0b7f2a85e13     one more attempt of that cell, never scored
  tui-bench ctl 20261129T210400Z-3f2a rerun_flips 5              5 fresh attempts a side of every flipped task
"""
NEEDS_ARGUMENT = {"jobs": "a number of attempts at once", "cancel": "an attempt id", "rerun": "an attempt id"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="ledger or run id")
    parser.add_argument("do", metavar="WHAT", choices=DO, help=", ".join(DO))
    parser.add_argument(
        "arg", metavar="ARG", nargs="?",
        help="jobs: how many; cancel, rerun: attempt id; rerun_flips: fresh attempts a side (default 5)",
    )  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    if args.do in NEEDS_ARGUMENT and args.arg is None:
        raise UsageError(f"ctl {args.do} needs {NEEDS_ARGUMENT[args.do]}")
    layout = Layout(ledger_of(Path(args.run)))
    answer = asyncio.run(RequestClient(layout.runner).request(args.do, args.arg))
    print(json.dumps(answer, sort_keys=True))
    return 0
