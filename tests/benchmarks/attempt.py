"""An attempt against the shell: fresh 20-file copy, verify, hashes and ledger row, two at a time.

Subject `clean`, environment `local`, one verify, no agent. The floor is `xargs -P2` over `cp -r` and `bash` on the
same task; interpreter start and preparation are outside both clocks. Files lie on a memory file system where there is
one, so that neither side waits for a disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmark import Benchmark, Ratios

from tui_bench.engine.plan import Selection
from tui_bench.engine.selection import load_selected
from tui_bench.engine.setup import set_up
from tui_bench.ledger.runs import Layout

FILES = 20
JOBS = 2


def make_study(folder: Path, attempts: int) -> Path:
    """A bare study of one task with 20 files of 5 KB in three folders."""
    repo = folder / "study" / "tasks" / "t01" / "repo"
    for number in range(FILES - 1):
        path = repo / f"part{number % 3}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number} " * 2_000)
    (repo / "run_tests.sh").write_text("exit 0\n")
    study = folder / "study"
    (study / "envs.tsv").write_text(
        f"name\tbase_url\tworkspace\treset\ttimeout_s\nhere\t\t{folder / 'work'}\twipe\t60\n"
    )
    settings = {
        "study": "bench", "tasks": "tasks/", "environments": "envs.tsv", "subject": "clean",
        "attempts": attempts, "verify_replays": 0, "jobs": JOBS,
    }  # fmt: skip
    (study / "bench.yaml").write_text(json.dumps(settings))
    return study


def shell_s(study: Path, target: Path, attempts: int) -> float:
    """Seconds of the same attempts by xargs."""
    target.mkdir()
    repo = study / "tasks" / "t01" / "repo"
    script = f"cp -r {repo} {target}/@ && cd {target}/@ && exec bash run_tests.sh"
    numbers = "\n".join(str(number) for number in range(attempts))
    began = time.perf_counter()
    subprocess.run(["xargs", f"-P{JOBS}", "-I@", "sh", "-c", script], input=numbers, text=True, check=True)
    return time.perf_counter() - began


def engine_s(study: Path, ledger: Path) -> float:
    """Seconds from the first attempt to the durable ledger."""

    async def run() -> float:
        selection = Selection(study=str(study))
        prepared = await set_up(load_selected(selection), selection, Layout(ledger), ledger.stem, lambda row: None)
        began = time.perf_counter()
        assert await prepared.run() == "complete"
        return time.perf_counter() - began

    return asyncio.run(run())


def measure(rounds: int, quick: bool) -> Ratios:
    """Ratio engine to shell, one a round, both in the same round."""
    attempts = 100 if quick else 300
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    ratios, shells = [], []
    for number in range(rounds):
        folder = Path(tempfile.mkdtemp(prefix="tui_bench-attempt-", dir=parent))
        try:
            study = make_study(folder, attempts)
            shell = shell_s(study, folder / "shell", attempts)
            shells.append(shell / attempts)
            ratios.append(engine_s(study, folder / "runs" / f"r{number}.jsonl") / shell)
        finally:
            shutil.rmtree(folder)
    return Ratios(ratios, floor=f"{min(shells) * 1000:.2f} ms an attempt")


BENCHMARKS = [Benchmark("attempt", 1.0, measure, "the same attempts by xargs -P2, cp -r and bash")]
