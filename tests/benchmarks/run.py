"""Benchmarks as ratios within one run: `python tests/benchmarks/run.py [--quick] [--rounds N] [NAME ...]`.

Absolute times on a shared machine say little, so product and floor take turns and each round gives one ratio. A module
listed here exposes `BENCHMARKS`. Exit code 1 when a target is missed, 2 when a name is unknown.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys

from benchmark import Benchmark

MODULES = ("ledger", "attempt", "sandbox", "startup", "screen")


def registered() -> list[Benchmark]:
    """All benchmarks of all modules, in their order."""
    return [benchmark for name in MODULES for benchmark in importlib.import_module(name).BENCHMARKS]


def row(benchmark: Benchmark, rounds: int, quick: bool) -> tuple[str, bool]:
    """One line of the table, and whether the target was met."""
    ratios = benchmark.measure(rounds, quick)
    if not ratios:
        return f"{benchmark.name:<28} {benchmark.target:>7.2f} {'-':>8} {'':>12}  left out with --quick", True
    median = statistics.median(ratios)
    met = median <= benchmark.target
    floor = " ".join(part for part in (getattr(ratios, "floor", ""), benchmark.floor) if part)
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    verdict = "met" if met else "MISSED"
    return f"{benchmark.name:<28} {benchmark.target:>7.2f} {median:>8.3f} {spread:>12}  {verdict:<7}{floor}", met


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, by name or its beginning")
    parser.add_argument("--quick", action="store_true", help="smaller inputs")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args(words)
    known = registered()
    chosen = [one for one in known if not asked.names or any(one.name.startswith(name) for name in asked.names)]
    if not chosen:
        print("no such benchmark; there are: " + ", ".join(one.name for one in known), file=sys.stderr)
        return 2
    print(f"{'benchmark':<28} {'target':>7} {'measured':>8} {'min-max':>12}  {'':<7}floor")
    all_met = True
    for benchmark in chosen:
        line, met = row(benchmark, asked.rounds, asked.quick)
        print(line, flush=True)
        all_met = all_met and met
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
