"""Commands through job slots, against the same commands started by something that does nothing else."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmark import Benchmark, Ratios

from tui_bench.environments.base import Command, Limits, Mount
from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.environments.transports import Local, Sandbox, Transport
from tui_bench.environments.variables import clean_variables

SLOTS = 2
SCRIPT = ("bash", "run_tests.sh")


@contextmanager
def place() -> Iterator[Path]:
    """A folder on a memory file system where there is one, with an empty test script."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix="tui_bench-spawn-", dir=parent) as name:
        folder = Path(name)
        for role in ("repo", "home"):
            (folder / role).mkdir()
        (folder / "repo" / "run_tests.sh").write_text("exit 0\n")
        yield folder


def command_in(folder: Path, transport: Transport, number: int) -> Command:
    mounts = tuple(Mount(role, folder / role, writable=True) for role in ("repo", "home"))
    inside = {mount.role: transport.inside(mount) for mount in mounts}
    variables = clean_variables(path=transport.path_variable(), home=inside["home"], tmp="/tmp")
    return Command(SCRIPT, "repo", mounts, variables, folder / f"{number}.log", Limits(60.0))


async def through_slots(folder: Path, transport: Transport, count: int) -> float:
    """Seconds for `count` commands on slots that run already."""
    slots = [SupervisorSlot(number) for number in range(SLOTS)]
    for slot in slots:
        await slot.start()
    commands = iter([command_in(folder, transport, number) for number in range(count)])

    async def work(slot: SupervisorSlot) -> None:
        for command in commands:
            outcome = transport.read(await slot.run(transport.launch(command), command), command)
            assert outcome.exit_code == 0, outcome

    began = time.perf_counter()
    await asyncio.gather(*(work(slot) for slot in slots))
    taken = time.perf_counter() - began
    for slot in slots:
        await slot.close()
    for log in folder.glob("*.log"):
        log.unlink()
    return taken


def bare_bwrap_s(folder: Path, program: str, count: int) -> float:
    """Seconds for the same recipe by a loop that only starts and waits, as many at once as there are slots.

    Process 1 inside is bubblewrap's own reaper there.
    """
    sandbox = Sandbox(program)
    command = command_in(folder, sandbox, 0)
    argv = [program, *(word for word in sandbox.recipe(command) if word != "--as-pid-1"), "--", *SCRIPT]
    began = time.perf_counter()
    for number in range(count):
        if number >= SLOTS:
            assert os.wait()[1] == 0
        os.posix_spawn(program, argv, dict(command.variables))
    for _ in range(min(SLOTS, count)):
        assert os.wait()[1] == 0
    return time.perf_counter() - began


def xargs_s(folder: Path, count: int) -> float:
    """Seconds for the script by xargs."""
    names = "run_tests.sh\n" * count
    began = time.perf_counter()
    subprocess.run(["xargs", f"-P{SLOTS}", "-n1", "bash"], input=names, text=True, check=True, cwd=folder / "repo")
    return time.perf_counter() - began


def spawn(rounds: int, quick: bool) -> list[float]:
    """Two slots in `local` to `xargs -P2 -n1 bash`."""
    count = 200 if quick else 600
    ratios, floors = [], []
    with place() as folder:
        for _ in range(rounds):
            floors.append(xargs_s(folder, count))
            ratios.append(asyncio.run(through_slots(folder, Local(), count)) / floors[-1])
    return Ratios(ratios, f"{statistics.median(floors) / count * 1000:.2f} ms")


def sandboxed(rounds: int, quick: bool) -> list[float]:
    """Two slots in `sandbox` to two bare bubblewraps at once with the same options."""
    program = shutil.which("bwrap")
    if program is None:
        return Ratios([float("nan")], "bwrap is not on PATH:")
    count = 50 if quick else 200
    ratios, floors = [], []
    with place() as folder:
        for _ in range(rounds):
            floors.append(bare_bwrap_s(folder, program, count))
            ratios.append(asyncio.run(through_slots(folder, Sandbox(program), count)) / floors[-1])
    return Ratios(ratios, f"{statistics.median(floors) / count * 1000:.2f} ms")


BENCHMARKS = [
    Benchmark("spawn", 1.4, spawn, "a command by xargs -P2 -n1 bash"),
    Benchmark("sandbox", 1.25, sandboxed, "a command by bare bwrap, same options"),
]
