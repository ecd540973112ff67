"""Task folders in Harbor's shape: instruction.md, tests/test.sh and task.toml beside a repo/ of ours."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from tui_bench.study.ranges import SECONDS
from tui_bench.study.reading import Reading, show

VERIFY = 'bash "$ORACLE_DIR/test.sh"'
NO_REPO = "copy what environment/ puts into the image, without its Dockerfile, to repo/"


def is_task(folder: Path) -> bool:
    """True for a folder with task.toml and instruction.md and no prompt.md of ours."""
    return (
        os.path.isfile(folder / "task.toml")
        and os.path.isfile(folder / "instruction.md")
        and not os.path.lexists(folder / "prompt.md")
    )


def verify_timeout(folder: Path, reading: Reading) -> float | None:
    """`verifier.timeout_sec` of task.toml in seconds, None where it is not given; faults are noted."""
    file = folder / "task.toml"
    text = reading.text(file)
    if text is None:
        return None
    try:
        verifier = tomllib.loads(text).get("verifier", {})
    except (ValueError, RecursionError) as error:
        reading.problem(file, None, f"is not valid TOML: {show(str(error))}")
        return None
    seconds = verifier.get("timeout_sec") if isinstance(verifier, dict) else None
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        reading.problem(file, None, f"verifier.timeout_sec: is not a number; allowed: {SECONDS}")
        return None
    if not SECONDS.low <= seconds <= SECONDS.high:
        reading.problem(file, None, f"verifier.timeout_sec: is out of range; allowed: {SECONDS}")
        return None
    return float(seconds)
