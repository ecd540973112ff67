"""Every gate of a ledger in one line each; the exit code is the verdict.

0 open, 1 shut, 3 no evidence, too few pairs or uninformative, 4 stopped, 5 flaky test. With several agents the first
present of 2, 4, 5, 3, 1, 0 counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.gate import exit_of, gate_json
from tui_bench.cleaning import clean
from tui_bench.commands.json_output import print_json
from tui_bench.commands.places import ledger_of
from tui_bench.reading import read_ledger

EXAMPLES = """\
examples:
  tui-bench gate runs/20261129T210400Z-3f2a.jsonl
  tui-bench gate --strict --json runs/20261129T210400Z-3f2a.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("--strict", action="store_true", help="an undecided or confounded gate is exit 3")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(args: argparse.Namespace) -> int:
    state = read_ledger(ledger_of(Path(args.ledger)))
    found = gates(state, strict=args.strict)
    code = exit_of(found)
    lines = banner(state, strict=args.strict)
    if args.json:
        print_json("gate", state, code, lines, {"gates": [gate_json(one) for one in found]})
        return code
    for one in found:
        print(clean(one.line))
    return code
