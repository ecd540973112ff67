"""Which verdicts change with the environment: a table per agent and pair of environments.

Each block ends in the published summary line `tasks=N flips=N flip_rate=R gate=G`. ENV_A and ENV_B choose one pair.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

import msgspec

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.flip import FlipTable, flip_json, flip_tables
from tui_bench.analysis.gate import exit_of, gate
from tui_bench.analysis.reruns import rerun_json, rerun_of
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording import flip_lines
from tui_bench.cleaning import clean
from tui_bench.commands.json_output import print_json
from tui_bench.commands.places import ledger_of, whole_number
from tui_bench.errors import UsageError
from tui_bench.reading import read_ledger

EXAMPLES = """\
examples:
  tui-bench flips runs/20261129T210400Z-3f2a.jsonl
  tui-bench flips runs/20261129T210400Z-3f2a.jsonl utc nepal --agent strong
  tui-bench flips runs/20261129T210400Z-3f2a.jsonl --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("env_a", metavar="ENV_A", nargs="?", help="first environment")
    parser.add_argument("env_b", metavar="ENV_B", nargs="?", help="second environment")
    parser.add_argument("--gate", metavar="R", help="another gate than the registered one (post hoc)")
    parser.add_argument("--attempt", type=whole_number, default=0, metavar="N", help="declared attempt, from 0 on")
    parser.add_argument("--agent", metavar="NAME", help="only this agent")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(args: argparse.Namespace) -> int:
    if (args.env_a is None) != (args.env_b is None):
        raise UsageError("flips: name both environments or none")
    state = read_ledger(ledger_of(Path(args.ledger)))
    pair = (args.env_a, args.env_b) if args.env_a is not None else None
    tables = flip_tables(state, agent=args.agent, pair=pair, attempt=args.attempt)
    rate = _rate(args.gate)
    code = exit_of(gates(state)) if rate is None else _code(state, tables, rate)
    if args.json:
        print_json("flips", state, code, banner(state), [_json(state, table) for table in tables])
        return code
    for table in tables:
        for line in flip_lines(state, table, gate=rate):
            print(clean(line))
    return code


def _json(state: RunState, table: FlipTable) -> dict[str, object]:
    again = rerun_of(state, table)
    return {**flip_json(table), "reruns": None if again is None else rerun_json(again)}


def _rate(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        rate = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"--gate {text!r}: a rate from 0 to 1 is needed, such as 0.10") from error
    if not 0 <= rate <= 1:
        raise UsageError(f"--gate {text!r}: a rate from 0 to 1 is needed, such as 0.10")
    return rate


def _code(state: RunState, tables: list[FlipTable], rate: Fraction) -> int:
    """The exit code that the gates would give with another rate."""
    rule = msgspec.structs.replace(state.rule, flip_rate=str(rate))
    return exit_of([gate(table, rule, state) for table in tables])
