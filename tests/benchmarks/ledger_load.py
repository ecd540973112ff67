"""Another process that appends to a ledger, each row a change of one cell: attempts that start and end.

`python ledger_load.py LEDGER TASKS` takes words on stdin, a line each: `one` writes a verdict at once, `rate N` goes on
with N rows a second until `rate 0`, which prints how many were written. `Load` is its other end.
"""

from __future__ import annotations

import random
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from ledger import AGENTS, ENVIRONMENTS, RUN, attempt_rows
from msgspec.structs import replace
from pty_probe import variables
from screen_ledgers import task_name

from tui_bench.ledger.rows import AnyRow, AttemptRow, EventRow
from tui_bench.ledger.writer import LedgerWriter

AT_ONCE = 8
"""Attempts that run at any time."""
BEAT_S = 0.01
SEED = 20261129


def changes(tasks: int) -> Iterator[AnyRow]:
    """`started` and attempt rows without end, over the first `tasks` tasks in random order; runs again replace."""
    chance = random.Random(SEED)
    cells = [
        (task_name(task), f"env{env}", f"agent{agent}")
        for task in range(tasks)
        for env in range(ENVIRONMENTS)
        for agent in range(AGENTS)
    ]
    done = next(attempt_rows(1))
    running: deque[AnyRow] = deque()
    serial, again = 0, None
    while True:
        chance.shuffle(cells)
        for task, env, agent in cells:
            serial += 1
            ident = f"{serial:016x}"
            yield EventRow(
                run_id=RUN, event="started", task=task, env=env, agent=agent, attempt_id=ident, number=0,
                role="planned", replaces=again, order_index=serial, detail={"folder": f"attempts/{ident}"},
            )  # fmt: skip
            code = chance.choice((0, 0, 1))
            ended = replace(
                done, task=task, env=env, agent=agent, attempt_id=ident, replaces=again, order_index=serial,
                passed=code == 0, exit_code=code, verify_runs=[code] * 3,
            )  # fmt: skip
            running.append(ended)
            if len(running) > AT_ONCE:
                yield running.popleft()
        again = 0


def serve(ledger: Path, tasks: int) -> None:
    """Write as told until stdin ends."""
    rows = changes(tasks)
    rate, began, written = 0, 0.0, 0
    with LedgerWriter.open(ledger) as writer:
        while True:
            if select.select([sys.stdin], [], [], BEAT_S if rate else None)[0]:
                words = sys.stdin.readline().split()
                if not words:
                    return
                if words[0] == "one":
                    writer.append(next(row for row in rows if isinstance(row, AttemptRow)))
                    continue
                if rate:
                    print(written, flush=True)
                rate, began, written = int(words[1]), time.perf_counter(), 0
            due = int((time.perf_counter() - began) * rate)
            for _ in range(due - written):
                writer.append(next(rows))
            written = due


class Load:
    """A writer of this ledger in a process of its own; changes fall on the first `tasks` tasks."""

    def __init__(self, ledger: Path, tasks: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(ledger), str(tasks)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables(), start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> Load:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        assert self._process.returncode == 0 or error is not None, "the load failed"

    def one(self) -> None:
        """Let one cell have its verdict."""
        self._say("one")

    def start(self, rate: int) -> None:
        """Change so many cells a second from now on."""
        self._say(f"rate {rate}")

    def stop(self) -> int:
        """Stop changing; how many cells have been changed since `start`."""
        self._say("rate 0")
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def _say(self, words: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
