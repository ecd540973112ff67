"""Reading what a person wrote on the command line: the ledger they mean, the number they mean."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tui_bench.errors import UsageError

RUNS = Path("runs")


def ledger_of(named: Path) -> Path:
    """An existing ledger: the file itself, or a run id looked up in `runs/`. Raises UsageError with what is there."""
    for candidate in (named, RUNS / f"{named}.jsonl"):
        if candidate.is_file():
            # Its files lie beside the file itself, not beside a link to it.
            return candidate.resolve()
    if named.is_dir():
        raise UsageError(f"{named}: is a folder; name the ledger, the .jsonl file beside it")
    if named.exists():
        raise UsageError(f"{named}: is no regular file; name the ledger of a run")
    known = sorted(RUNS.glob("*.jsonl"))[-3:] if RUNS.is_dir() else []
    seen = f"; the newest in runs/: {', '.join(path.name for path in known)}" if known else ""
    raise UsageError(f"{named}: no such ledger{seen}")


def whole_number(text: str) -> int:
    """A number as study files take it: plain digits, with a sign at most. Raises ArgumentTypeError."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)
