"""The one shape of `--json`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tui_bench.analysis.state import RunState

SCHEMA = 1


def print_json(command: str, state: RunState | None, code: int, lines: Sequence[str], result: object) -> None:
    """One object on one line of stdout; fractions are strings, unknown is null, text is escaped to ASCII."""
    body = {
        "schema": SCHEMA,
        "command": command,
        "run_id": state.run.run_id if state is not None and state.run is not None else None,
        "state": state.status if state is not None else None,
        "exit": code,
        "banner": list(lines),
        "result": result,
    }
    print(json.dumps(body, sort_keys=True, allow_nan=False))
