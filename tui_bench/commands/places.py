"""Finding the ledger a person means."""

from __future__ import annotations

from pathlib import Path

from tui_bench.errors import UsageError

RUNS = Path("runs")


def ledger_of(named: Path) -> Path:
    """An existing ledger: the file itself, or a run id looked up in `runs/`. Raises UsageError with what is there."""
    for candidate in (named, RUNS / f"{named}.jsonl"):
        if candidate.is_file():
            return candidate
    if named.is_dir():
        raise UsageError(f"{named}: is a folder; name the ledger, the .jsonl file beside it")
    known = sorted(RUNS.glob("*.jsonl"))[-3:] if RUNS.is_dir() else []
    seen = f"; the newest in runs/: {', '.join(path.name for path in known)}" if known else ""
    raise UsageError(f"{named}: no such ledger{seen}")
