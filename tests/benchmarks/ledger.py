"""Appending to a ledger and loading one of a million rows.

Append: against `json.dumps` of the same row, and against an fsync a row on the same disk. Load: the whole way from
file to tables (strict parse, hash chain, fold) against a loop over the lines and one over `json.loads`; each in a
process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec
from benchmark import Benchmark, Ratios

from tui_bench.ledger.canonical import seal
from tui_bench.ledger.rows import GENESIS, AnyRow, AttemptRow, EventRow, FileRef, PhasesMs, Resources
from tui_bench.ledger.writer import LedgerWriter

RUN = "20261129T120000Z-0000"
TASKS, ENVIRONMENTS, AGENTS = 500, 4, 5
FILES = ("agent.log", "verify.log", "patch.diff")
PEAK_MIB = 60


def attempt_rows(count: int, seed: int = 20261129) -> Iterator[AttemptRow]:
    """Attempts of 500 tasks x 4 environments x 5 agents, in rounds, as a run would write them."""
    chance = random.Random(seed)
    cells = [
        (f"t{task:03d}_task_name", f"env{env}", f"agent{agent}")
        for task in range(TASKS)
        for env in range(ENVIRONMENTS)
        for agent in range(AGENTS)
    ]
    digests = [f"{chance.getrandbits(256):064x}" for _ in range(64)]
    for index in range(count):
        task, env, agent = cells[index % len(cells)]
        code = chance.choice((0, 0, 1))
        digest = digests[index % 64]
        place = f"attempts/{task}-{digest[:8]}/{env}-{digest[8:16]}/{agent}-{digest[16:24]}/{index // len(cells)}"
        yield AttemptRow(
            run_id=RUN, task=task, env=env, attempt=index // len(cells), attempt_id=f"{index:016x}", agent=agent,
            mode="full", role="planned", replaces=None, env_sha=digest, passed=code == 0, exit_code=code, signal=None,
            void=None, void_causes=[], wall_ms=chance.randrange(900, 90_000),
            phases_ms=PhasesMs(prepare=9, agent=chance.randrange(800, 80_000), collect=4, verify=210, replays=400),
            verify_cmd=["sh", "test.sh"], verify_runs=[code, code, code], verify_stdout_tail="5 tests run\n",
            verify_stderr_tail="", agent_exit=0, agent_signal=None, capped=False, tokens_in=chance.randrange(10_000),
            tokens_out=chance.randrange(4_000), tokens_cached=None, usage_source="file", patch_sha256=digest,
            dropped=[], task_sha=digest, oracle_sha=digest, prompt_sha=digest,
            resources=Resources(cpu_ms=700, peak_rss_bytes=48_000_000, peak_processes=4, left_over_processes=0),
            host_load=round(chance.random(), 3), order_index=index,
            enforced={"fs": "mountns", "net": "netns", "procs": "pidns", "mem": "rlimit", "cpu": "none"},
            files={name: FileRef(path=f"{place}/{name}", sha256=digest, bytes=2_000) for name in FILES},
        )  # fmt: skip


def append_visible(rounds: int, quick: bool) -> list[float]:
    rows = list(attempt_rows(1_000 if quick else 5_000))
    slices = [rows[start : start + 100] for start in range(0, len(rows), 100)]
    ratios, floors = [], []
    with tempfile.TemporaryDirectory(prefix="tui_bench-append-") as folder:
        for number in range(rounds):
            with LedgerWriter.open(Path(folder) / f"{number}.jsonl") as writer:
                pairs = [(_append(writer, part), _dump(msgspec.to_builtins(part))) for part in slices]
            # The median of short turns: whoever loses the processor for a moment loses one turn, not the round.
            ratios.append(statistics.median(ours / floor for ours, floor in pairs))
            floors.append(statistics.median(floor for _, floor in pairs) / len(slices[0]))
    return Ratios(ratios, f"{statistics.median(floors) * 1e6:.1f} us")


def _dump(members: list[dict[str, object]]) -> float:
    began = time.perf_counter()
    for each in members:
        json.dumps(each)
    return time.perf_counter() - began


def _append(writer: LedgerWriter, rows: list[AttemptRow]) -> float:
    began = time.perf_counter()
    for row in rows:
        writer.append(row)
    return time.perf_counter() - began


def append_durable(rounds: int, quick: bool) -> list[float]:
    rows = [
        EventRow(
            run_id=RUN,
            event="started",
            task=row.task,
            env=row.env,
            agent=row.agent,
            attempt_id=row.attempt_id,
            number=row.attempt,
            role="planned",
            order_index=row.order_index,
        )
        for row in attempt_rows(1_000)
    ]
    lines = [seal(row, 1, GENESIS, "").line + b"\n" for row in rows]
    ratios, floors = [], []
    with tempfile.TemporaryDirectory(prefix="tui_bench-append-") as folder:
        for number in range(rounds):
            floors.append(_fsync_each(Path(folder) / f"{number}.floor", lines))
            with LedgerWriter.open(Path(folder) / f"{number}.jsonl") as writer:
                ratios.append(asyncio.run(_together(writer, rows)) / floors[-1])
    return Ratios(ratios, f"{statistics.median(floors) / len(rows) * 1e3:.2f} ms")


def _fsync_each(path: Path, lines: list[bytes]) -> float:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    began = time.perf_counter()
    for line in lines:
        os.write(descriptor, line)
        os.fsync(descriptor)
    took = time.perf_counter() - began
    os.close(descriptor)
    return took


async def _together(writer: LedgerWriter, rows: Sequence[AnyRow]) -> float:
    async def one(row: AnyRow) -> None:
        writer.append(row)
        await writer.durable()

    began = time.perf_counter()
    await asyncio.gather(*(one(row) for row in rows))
    return time.perf_counter() - began


LOADERS = {
    "lines": "for line in open(path, 'rb'): pass",
    "json": "import json\nfor line in open(path, 'rb'): json.loads(line)",
    "tables": "assert read_ledger(path).counts.done == count",
}
_CHILD = """
import resource, sys, time
path, count = sys.argv[1], int(sys.argv[2])
{imports}
began = time.process_time()
{body}
print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def load_once(name: str, path: Path, count: int) -> tuple[float, float]:
    """CPU seconds and peak MiB of one loader in its own process, imports outside the clock; the file is in memory."""
    imports = "from tui_bench.reading import read_ledger" if name == "tables" else ""
    program = _CHILD.format(imports=imports, body=LOADERS[name])
    words = [sys.executable, "-c", program, str(path), str(count)]
    root = Path(__file__).parents[2]
    out = subprocess.run(words, check=True, capture_output=True, text=True, cwd=root).stdout.split()
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return float(out[0]), float(out[1]) / unit


@cache
def loads(rounds: int, quick: bool) -> dict[str, list[tuple[float, float]]]:
    """CPU seconds and peak MiB of every loader, round by round, over one generated ledger."""
    count = 100_000 if quick else 1_000_000
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in LOADERS}
    with tempfile.TemporaryDirectory(prefix="tui_bench-load-") as folder:
        path = Path(folder) / "l.jsonl"
        write_ledger(path, count)
        for _ in range(rounds):
            for name, results in taken.items():
                results.append(load_once(name, path, count))
    return taken


def write_ledger(path: Path, count: int) -> None:
    """A valid ledger of attempt rows alone."""
    prev = GENESIS
    with path.open("wb") as file:
        for seq, row in enumerate(attempt_rows(count), 1):
            sealed = seal(row, seq, prev, "2026-11-29T12:00:00.000Z")
            file.write(sealed.line + b"\n")
            prev = sealed.sha


def load_to_lines(rounds: int, quick: bool) -> list[float]:
    return _load_ratio("lines", rounds, quick)


def load_to_json(rounds: int, quick: bool) -> list[float]:
    return _load_ratio("json", rounds, quick)


def _load_ratio(floor: str, rounds: int, quick: bool) -> list[float]:
    taken = loads(min(rounds, 3), quick)
    ratios = [ours[0] / other[0] for ours, other in zip(taken["tables"], taken[floor], strict=True)]
    return Ratios(ratios, f"{statistics.median(seconds for seconds, _ in taken[floor]):.2f} s")


def load_peak(rounds: int, quick: bool) -> list[float]:
    taken = loads(min(rounds, 3), quick)
    floor = f"{statistics.median(peak for _, peak in taken['lines']):.0f} MiB for the lines,"
    return Ratios([peak / PEAK_MIB for _, peak in taken["tables"]], floor)


BENCHMARKS = [
    Benchmark("append visible", 2.0, append_visible, "json.dumps of the row"),
    Benchmark("append durable", 0.1, append_durable, "a row with an fsync each"),
    Benchmark("load of rows: lines", 20.0, load_to_lines, "loop over the lines"),
    Benchmark("load of rows: json", 0.8, load_to_json, "loop of json.loads"),
    Benchmark("load of rows: peak", 1.0, load_peak, f"target {PEAK_MIB} MiB"),
]
