"""Integrity of a ledger: every row's digest, the chain, the order, and the files it names.

Someone who rewrites the whole file is found only against a head kept elsewhere: give it with --head. Any earlier head
of the same ledger is accepted.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tui_bench.cleaning import clean
from tui_bench.commands.json_output import print_json
from tui_bench.commands.places import ledger_of
from tui_bench.errors import UsageError
from tui_bench.ledger.integrity import check
from tui_bench.ledger.runs import Layout

EXAMPLES = """\
examples:
  tui-bench fsck runs/20261129T210400Z-3f2a.jsonl
  tui-bench fsck runs/20261129T210400Z-3f2a.jsonl --head 5e0f... && echo intact

exit codes: 0 intact; 4 something is wrong; 2 the ledger cannot be read
"""
STOPPED = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="ledger or run id")
    parser.add_argument("--head", metavar="HASH", help="sha of the last row at some time, as printed by run")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(args: argparse.Namespace) -> int:
    if args.head is not None and not re.fullmatch(r"[0-9a-f]{64}", args.head):
        raise UsageError(f"--head {args.head!r}: 64 hex digits are needed, as `run` and `fsck` print them")
    ledger = ledger_of(Path(args.ledger))
    report = check(ledger, args.head, Layout(ledger).files)
    code = 0 if report.ok else STOPPED
    if args.json:
        findings = [{"kind": one.kind, "line": one.line, "message": one.message} for one in report.findings]
        result = {"rows": report.rows, "head": report.head, "files": report.files, "findings": findings}
        print_json("fsck", None, code, [], {**result, "counts": report.counts})
        return code
    for finding in report.findings:
        print(clean(f"{finding.kind}: {finding}"))
    verdict = "intact" if report.ok else f"{len(report.findings)} findings"
    print(f"{report.rows} rows, {report.files} files compared: {verdict}; head: {report.head}")
    return code
