"""The screen under a pty, started as a user starts it, against Textual itself on the same machine at the same time.

Live grid: the same changes in a DataTable. Keys, idling and memory: a trivial Textual app. First paint: importing
Textual. Logs: a large one against a small one. Product and floor run side by side and are measured in turns; CPU and
memory come from procfs.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from benchmark import Benchmark, Ratios
from ledger import load_once
from ledger_load import Load
from pty_probe import ROOT, Program, favour, mark, settle, variables
from screen_ledgers import LOG_END, task_name, write_begun, write_finished, write_logged

HERE = Path(__file__).parent
CURSOR = "›"
RATE = 500
"""Changed cells a second."""
FEW, MANY = 500, 5000
"""Tasks of a grid; it has 20 columns."""
ON_SCREEN = 18
"""Tasks that are seen on any of our screens here."""
SMALL, LARGE = 10_000, 1_000_000
"""Attempts in a finished ledger."""
MB = 10**6


def watch(ledger: Path) -> Program:
    return Program([sys.executable, "-m", "tui_bench", "watch", str(ledger)])


def trivial() -> Program:
    return Program([sys.executable, str(HERE / "trivial_app.py")])


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tui_bench-screen-") as name:
        yield Path(name)


@dataclass
class Turns:
    """What product and floor took, turn by turn."""

    ours: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)

    def ratios(self, text: str) -> Ratios:
        """One ratio a turn; `text` takes the two medians."""
        pairs = zip(self.ours, self.floor, strict=True)
        medians = (statistics.median(self.ours), statistics.median(self.floor))
        return Ratios([ours / floor for ours, floor in pairs], text.format(*medians))


@cache
def live(tasks: int, rounds: int, quick: bool) -> tuple[Turns, Turns]:
    """CPU milliseconds for one changed cell, and CPU share while 500 a second change; ours and the DataTable's."""
    one, many = Turns(), Turns()
    with folder() as place, ExitStack() as stack:
        sides: list[tuple[Program, Load, list[float]]] = []
        for name, taken in (("ours", many.ours), ("table", many.floor)):
            path = place / f"{name}.jsonl"
            write_begun(path, tasks)
            load = stack.enter_context(Load(path, tasks))
            command = ["-m", "tui_bench", "watch"] if name == "ours" else [str(HERE / "table_app.py")]
            program = stack.enter_context(Program([sys.executable, *command, str(path)]))
            sides.append((program, load, taken))
        for program, *_ in sides:
            program.shows(mark(task_name(0)))
        (ours, our_load, _), (table, table_load, _) = sides
        settle(ours, table)
        idle_ours, idle_table = _both_ms(ours, table)
        for _ in range(rounds):
            our_load.one()
            table_load.one()
            busy_ours, busy_table = _both_ms(ours, table)
            one.ours.append(busy_ours - idle_ours)
            one.floor.append(busy_table - idle_table)
        for _ in range(rounds):
            for program, load, taken in sides:
                taken.append(_share_under_load(program, load, 1.5 if quick else 3.0))
    return one, many


def _both_ms(one: Program, other: Program) -> tuple[float, float]:
    """CPU milliseconds of two programs that are all but idle; long enough for what they put off to come."""
    before = other.cpu_s()
    spent = one.cpu_during(1.5)
    other.drain()
    return 1000 * spent, 1000 * (other.cpu_s() - before)


def _share_under_load(program: Program, load: Load, seconds: float) -> float:
    load.start(RATE)
    program.drain(0.3)
    began, before = time.perf_counter(), program.cpu_s()
    program.drain(seconds)
    share = (program.cpu_s() - before) / (time.perf_counter() - began)
    written = load.stop()
    assert written > 0.7 * RATE * seconds, f"the load has written {written} rows: this machine is too busy"
    program.drain(0.5)
    return share


def one_cell(tasks: int, rounds: int, quick: bool) -> Ratios:
    one, _ = live(tasks, _few(rounds, quick), quick)
    return one.ratios("{0:.0f} to {1:.0f} ms")


def many_cells(tasks: int, rounds: int, quick: bool) -> Ratios:
    _, many = live(tasks, _few(rounds, quick), quick)
    return many.ratios("{0:.1%} to {1:.1%} of a core")


def _few(rounds: int, quick: bool) -> int:
    return min(rounds, 3) if quick else rounds


@cache
def keys(rounds: int, quick: bool) -> list[tuple[list[float], list[float]]]:
    """Milliseconds from key to paint, ours and the trivial app's, round by round, while cells on the screen change."""
    count = 20 if quick else 60
    chance = random.Random(7)
    taken: list[tuple[list[float], list[float]]] = []
    with folder() as place:
        path = place / "l.jsonl"
        write_begun(path, FEW)
        with Load(path, ON_SCREEN) as load, watch(path) as ours, trivial() as floor:
            ours.shows(mark(task_name(0)))
            floor.shows(mark("K00000"))
            settle(ours)
            load.start(RATE)
            pressed = 0
            for _ in range(rounds):
                taken.append(([], []))
                for _ in range(count):
                    key, task = (b"k", 0) if pressed % 2 else (b"j", 1)
                    pressed += 1
                    taken[-1][0].append(1000 * ours.key_to_paint(key, _cursor_on(task), chance))
                    taken[-1][1].append(1000 * floor.key_to_paint(b"j", mark(f"K{pressed:05d}"), chance))
            load.stop()
    return taken


def _cursor_on(task: int) -> re.Pattern[bytes]:
    """The cursor's sign and the task's name after it, whatever colours are between."""
    return re.compile(CURSOR.encode() + rb" (?:\x1b\[[0-9;]*m)*" + task_name(task).encode())


def key_quantile(share: float, rounds: int, quick: bool) -> Ratios:
    """Ratio of the keys' latency that `share` of them stay below."""
    turns = Turns()
    for ours, floor in keys(_few(rounds, quick), quick):
        turns.ours.append(_quantile(ours, share))
        turns.floor.append(_quantile(floor, share))
    return turns.ratios("{0:.1f} to {1:.1f} ms")


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def import_s() -> float:
    """Seconds to start an interpreter that imports Textual and ends."""
    began = time.perf_counter()
    words = [sys.executable, "-c", "import textual.app"]
    with subprocess.Popen(words, env=variables(), cwd=ROOT, start_new_session=True) as process:
        favour(process.pid)
    assert process.returncode == 0
    return time.perf_counter() - began


def first_paint_s(ledger: Path) -> float:
    """Seconds until the grid's first task stands on the screen."""
    with watch(ledger) as ours:
        return ours.shows(mark(task_name(0))) - ours.began


def first_paint(rounds: int, quick: bool) -> Ratios:
    turns = Turns()
    with folder() as place:
        path = place / "l.jsonl"
        write_finished(path, SMALL)
        for _ in range(_few(rounds, quick)):
            pairs = [(first_paint_s(path), import_s()) for _ in range(2 if quick else 3)]
            turns.ours.append(min(ours for ours, _ in pairs))
            turns.floor.append(min(floor for _, floor in pairs))
    return turns.ratios("{0:.2f} to {1:.2f} s")


@dataclass
class Opened:
    """Turns of a large ledger: seconds to the first task, CPU seconds until all attempts are counted, MB afterwards."""

    paint: Turns = field(default_factory=Turns)
    complete: Turns = field(default_factory=Turns)
    memory: Turns = field(default_factory=Turns)
    walls: list[float] = field(default_factory=list)
    """Seconds until all attempts are counted."""


@cache
def large(rounds: int) -> Opened:
    """A ledger of a million attempts, opened and left alone until its chain is verified."""
    found = Opened()
    with folder() as place:
        path = place / "l.jsonl"
        write_finished(path, LARGE)
        for _ in range(rounds):
            found.paint.floor.append(min(import_s() for _ in range(3)))
            found.complete.floor.append(load_once("json", path, LARGE)[0])
            with trivial() as floor, watch(path) as ours:
                found.paint.ours.append(ours.shows(mark(task_name(0))) - ours.began)
                found.walls.append(ours.shows(mark(f"{LARGE}/{LARGE}"), 300) - ours.began)
                found.complete.ours.append(ours.cpu_s())
                settle(ours, seconds=120)
                found.memory.ours.append(ours.memory_mb())
                found.memory.floor.append(floor.memory_mb())
    return found


def large_paint(rounds: int, quick: bool) -> Ratios:
    return Ratios() if quick else large(min(rounds, 3)).paint.ratios("{0:.2f} to {1:.2f} s")


def large_complete(rounds: int, quick: bool) -> Ratios:
    if quick:
        return Ratios()
    found = large(min(rounds, 3))
    return found.complete.ratios(f"{{0:.1f}} to {{1:.1f}} s CPU ({statistics.median(found.walls):.1f} s wall)")


def large_memory(rounds: int, quick: bool) -> Ratios:
    return Ratios() if quick else large(min(rounds, 3)).memory.ratios("{0:.0f} to {1:.0f} MB")


@cache
def logs(rounds: int, quick: bool) -> tuple[Turns, Turns]:
    """Milliseconds from a key to the last line of a log, and MB afterwards: a large log, and one of 1 MB."""
    times, memory = Turns(), Turns()
    chance = random.Random(11)
    with folder() as place:
        paths = [place / "large.jsonl", place / "small.jsonl"]
        for path, size in zip(paths, (100 * MB if quick else 1000 * MB, MB), strict=True):
            write_logged(path, size)
        for _ in range(rounds):
            with watch(paths[0]) as large_one, watch(paths[1]) as small_one:
                turns: tuple[list[float], list[float]] = ([], [])
                for program in (large_one, small_one):
                    program.shows(mark(f"{LOG_END} 0"))
                for _ in range(8 if quick else 30):
                    for program, taken in zip((large_one, small_one), turns, strict=True):
                        taken.append(1000 * program.key_to_paint(b"j", mark(f"{LOG_END} 1"), chance))
                        program.key_to_paint(b"k", mark(f"{LOG_END} 0"), chance)
                # The quarter that was least disturbed: what is asked for differs by less than the machine's noise.
                times.ours.append(_quantile(turns[0], 0.25))
                times.floor.append(_quantile(turns[1], 0.25))
                memory.ours.append(large_one.memory_mb("VmHWM"))
                memory.floor.append(small_one.memory_mb("VmHWM"))
    return times, memory


def log_time(rounds: int, quick: bool) -> Ratios:
    return logs(min(rounds, 2) if quick else rounds, quick)[0].ratios("{0:.1f} to {1:.1f} ms")


def log_memory(rounds: int, quick: bool) -> Ratios:
    return logs(min(rounds, 2) if quick else rounds, quick)[1].ratios("{0:.1f} to {1:.1f} MB")


@cache
def idle(rounds: int) -> tuple[Turns, Turns]:
    """CPU share and MB of a finished ledger on the screen, and of the trivial app."""
    shares, memory = Turns(), Turns()
    with folder() as place:
        path = place / "l.jsonl"
        write_finished(path, SMALL)
        with watch(path) as ours, trivial() as floor:
            ours.shows(mark(f"{SMALL}/{SMALL}"))
            settle(ours)
            for _ in range(rounds):
                # Both do nothing, so they can do it at the same time.
                before = floor.cpu_s()
                began = time.perf_counter()
                spent = ours.cpu_during(1.5)
                took = time.perf_counter() - began
                shares.ours.append(spent / took)
                shares.floor.append((floor.cpu_s() - before) / took)
                memory.ours.append(ours.memory_mb())
                memory.floor.append(floor.memory_mb())
    return shares, memory


def idle_share(rounds: int, quick: bool) -> Ratios:
    return idle(_few(rounds, quick))[0].ratios("{0:.2%} to {1:.2%} of a core")


def memory(rounds: int, quick: bool) -> Ratios:
    return idle(_few(rounds, quick))[1].ratios("{0:.0f} to {1:.0f} MB")


TABLE = "CPU of a DataTable"
TRIVIAL = "of a trivial Textual app"
BENCHMARKS = [
    Benchmark("screen 1 cell of 500x20", 0.2, partial(one_cell, FEW), TABLE),
    Benchmark("screen 500/s in 500x20", 0.2, partial(many_cells, FEW), TABLE),
    Benchmark("screen 1 cell of 5000x20", 0.2, partial(one_cell, MANY), TABLE),
    Benchmark("screen 500/s in 5000x20", 0.2, partial(many_cells, MANY), TABLE),
    Benchmark("screen key p50 at 500/s", 3.0, partial(key_quantile, 0.5), TRIVIAL),
    Benchmark("screen key p95 at 500/s", 8.0, partial(key_quantile, 0.95), TRIVIAL),
    Benchmark("screen paint, 10,000 rows", 1.6, first_paint, "import textual.app"),
    Benchmark("screen log, 1 GB: time", 1.1, log_time, "a log of 1 MB"),
    Benchmark("screen log, 1 GB: memory", 1.1, log_memory, "a log of 1 MB"),
    Benchmark("screen idle CPU", 10.0, idle_share, TRIVIAL),
    Benchmark("screen memory, 10,000 rows", 3.5, memory, TRIVIAL),
    Benchmark("screen paint, 1 M rows", 1.6, large_paint, "import textual.app"),
    Benchmark("screen complete, 1 M rows", 1.0, large_complete, "loop of json.loads"),
    Benchmark("screen memory, 1 M rows", 5.8, large_memory, TRIVIAL),
]
