"""Facts and capabilities of an environment, or what two environments differ in.

NAME is an environment of the study given with --study, or a bare kind such as `local` or `sandbox`.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from tui_bench.cleaning import clean
from tui_bench.commands.json_output import print_json
from tui_bench.environments.environment import ExecEnvironment, open_environment
from tui_bench.environments.facts import difference
from tui_bench.environments.report import report
from tui_bench.errors import UsageError
from tui_bench.study.load import load_study
from tui_bench.study.model import Environment

EXAMPLES = """\
examples:
  tui-bench env check local
  tui-bench env check local sandbox
  tui-bench env check utc nepal --study sample_config --json
"""
KINDS = ("local", "sandbox", "container", "ssh", "exec")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="check", choices=("check",), help="check")
    parser.add_argument("name", metavar="NAME", help="environment of the study, or a kind")
    parser.add_argument("other", metavar="OTHER", nargs="?", help="a second one: print what differs")
    parser.add_argument("--study", metavar="STUDY", help="where NAME is looked up")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(args: argparse.Namespace) -> int:
    names = [name for name in (args.name, args.other) if name is not None]
    opened = asyncio.run(_prepared([_declared(name, args.study) for name in names]))
    reports = [report(environment) for environment in opened]
    result: dict[str, Any] = reports[0]
    if len(opened) == 2:
        rows = difference(opened[0].facts, opened[1].facts)
        result = {"environments": reports, "difference": [{"fact": f, "a": a, "b": b} for f, a, b in rows]}
    if args.json:
        print_json("env check", None, 0, [], result)
        return 0
    for line in _lines(names, reports, result):
        print(clean(line))
    return 0


def _declared(name: str, study: str | None) -> Environment:
    if study is not None:
        known = {environment.name: environment for environment in load_study(Path(study)).environments}
        if name in known:
            return known[name]
        raise UsageError(f"environment {name!r} is not in {study}; known: {', '.join(known)}")
    if name not in KINDS:
        raise UsageError(f"environment {name!r}: name a kind ({', '.join(KINDS)}) or give --study STUDY")
    return Environment(name=name, kind=name)  # type: ignore[arg-type]


async def _prepared(declared: list[Environment]) -> list[ExecEnvironment]:
    opened = [open_environment(one) for one in declared]
    for environment in opened:
        await environment.prepare()
    return opened


def _lines(names: list[str], reports: list[dict[str, Any]], result: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, found in zip(names, reports, strict=True):
        lines.append(f"{name}: env_sha {found['env_sha']}")
        lines += [f"  {key:<8} {means}" for key, means in found["capabilities"].items()]
        if found["missing_tools"]:
            lines.append(f"  missing tools: {', '.join(found['missing_tools'])}")
    if "difference" in result:
        rows = result["difference"]
        lines.append(f"{len(rows)} facts differ" if len(rows) != 1 else "1 fact differs")
        return lines + [f"  {row['fact']}: {row['a']} | {row['b']}" for row in rows]
    lines += [f"  {fact} = {value}" for fact, value in sorted(reports[0]["facts"].items())]
    return lines + [f"  ~{fact} = {value}" for fact, value in sorted(reports[0]["volatile"].items())]
