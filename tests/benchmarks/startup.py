"""What `--help` and `--version` cost in CPU against an interpreter that does nothing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from benchmark import Benchmark, Ratios


def cpu_s(words: list[str]) -> float:
    """User and system seconds of one process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(words: list[str], rounds: int) -> Ratios:
    """CPU of `python -m tui_bench WORDS` to that of `python -c pass`, each the smallest of five in the round."""
    ratios, floors = [], []
    for _ in range(rounds):
        floor = min(cpu_s([sys.executable, "-c", "pass"]) for _ in range(5))
        ratios.append(min(cpu_s([sys.executable, "-m", "tui_bench", *words]) for _ in range(5)) / floor)
        floors.append(floor)
    return Ratios(ratios, floor=f"{min(floors) * 1000:.0f} ms CPU")


def measure_help(rounds: int, quick: bool) -> Ratios:
    return ratio(["--help"], rounds)


def measure_command_help(rounds: int, quick: bool) -> Ratios:
    return ratio(["flips", "--help"], rounds)


BENCHMARKS = [
    Benchmark("start --help", 6.0, measure_help, "CPU of python -c pass"),
    Benchmark("start flips --help", 12.0, measure_command_help, "CPU of python -c pass"),
]
