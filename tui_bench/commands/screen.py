"""The runner in a process of its own, and the screen on its ledger."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tui_bench.cleaning import clean
from tui_bench.commands.trees import StudyTrees
from tui_bench.commands.verdict_text import closing_lines, exit_code
from tui_bench.engine.requests import RequestClient
from tui_bench.errors import RunnerError
from tui_bench.ledger.runs import Layout
from tui_bench.reading import read_ledger

START_S = 120.0
"""Environments are probed before the first row; a runner that needs longer is reported."""
STOP_S = 30.0
POLL_S = 0.05
DETACHED = 0


@dataclass(frozen=True, slots=True)
class Started:
    """A runner process of ours."""

    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid


def start_runner(words: list[str], layout: Layout, run_id: str | None = None) -> Started:
    """Start the headless runner in its own session and wait for its first row.

    Its words go to `runner.log` in the run's files folder. Raises RunnerError with its last line when it ends first.
    """
    layout.files.mkdir(parents=True, exist_ok=True)
    before = layout.ledger.stat().st_size if layout.ledger.exists() else 0
    with layout.runner_log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tui_bench", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, **({"RUN_ID": run_id} if run_id is not None else {})},
        )
    try:
        _await_first_row(process, layout, before)
    except KeyboardInterrupt:
        # Nobody would know of a run that goes on without a screen.
        process.terminate()
        process.wait(STOP_S)
        raise
    return Started(process)


def _await_first_row(process: subprocess.Popen[bytes], layout: Layout, before: int) -> None:
    """Until the ledger has grown beyond `before` bytes. Raises RunnerError when the runner ends or is too slow."""
    deadline = time.monotonic() + START_S
    while not (layout.ledger.exists() and layout.ledger.stat().st_size > before):
        if process.poll() is not None:
            raise RunnerError(_last_words(layout.runner_log))
        if time.monotonic() > deadline:
            process.kill()
            raise RunnerError(f"the runner wrote no row within {START_S:.0f} s; see {layout.runner_log}")
        time.sleep(POLL_S)


def _last_words(log: Path) -> str:
    """What the runner said before it ended, without its own name in front."""
    said = log.read_text("utf-8", "replace").strip().splitlines()
    told = [line.removeprefix("tui-bench: ") for line in said if line.startswith("tui-bench: ")]
    return "\n".join(told or said[-1:]) or f"the runner ended without a word; see {log}"


def watch_run(layout: Layout, started: Started | None, *, ascii_glyphs: bool, strict: bool) -> int:
    """Open the screen; afterwards print what the ledger says now and return the exit code it gives."""
    from tui_bench.commands.launcher import LocalLauncher
    from tui_bench.tui.app import run_app

    link = RequestClient(layout.runner)
    trees = StudyTrees(layout)
    left = run_app(
        layout.ledger, link, ascii_glyphs=ascii_glyphs, trees=trees, launcher=LocalLauncher()
    )
    if left.choice == "stop":
        _wait(started, link)
    if link.alive:
        print(clean(f"the run goes on: `tui-bench watch {layout.ledger}` opens it again"))
        return DETACHED
    state = read_ledger(layout.ledger)
    for line in closing_lines(state, layout.ledger, strict=strict):
        print(line)
    return left.code or exit_code(state, strict=strict)


def _wait(started: Started | None, link: RequestClient) -> None:
    """Wait until the stopped runner has written its last row."""
    if started is not None:
        started.process.wait(STOP_S)
    deadline = time.monotonic() + STOP_S
    while link.alive and time.monotonic() < deadline:
        time.sleep(POLL_S)
