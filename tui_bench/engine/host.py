"""What the engine reads of its own machine: identity, load and clocks."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from tui_bench.ledger.owner import boot_id as boot_id

JUMP_LIMIT_MS = 2_000
"""A wall clock that moved against the monotonic one by more than this voids the attempt (host_clock)."""


def host_name() -> str:
    return platform.node() or "unknown"


def load_per_core() -> float | None:
    """1-minute load average per core, None where the system does not tell."""
    try:
        return round(os.getloadavg()[0] / (os.cpu_count() or 1), 3)
    except OSError:
        return None


def _stat(pid: int) -> list[str]:
    """Fields of procfs `stat` from the state on (field 3 of proc(5)); empty where there are none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def start_time(pid: int) -> int | None:
    """A process's start in clock ticks since boot: with the pid it names a process for certain."""
    fields = _stat(pid)
    return int(fields[19]) if len(fields) > 19 else None


def alive(pid: int, started: int | None) -> bool:
    """Whether the process with this pid and start time still runs (any process of the pid where unknown).

    One that has ended and whose parent has not looked yet does not run.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    fields = _stat(pid)
    if fields and fields[0] in ("Z", "X"):
        return False
    return started is None or start_time(pid) in (None, started)


@dataclass(frozen=True, slots=True)
class Clocks:
    """Readings of the clocks at one moment, nanoseconds."""

    monotonic: int
    wall: int
    boot: int | None

    @classmethod
    def read(cls) -> Clocks:
        boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else None
        return cls(time.monotonic_ns(), time.time_ns(), boot)

    def elapsed_ms(self, later: Clocks) -> int:
        return (later.monotonic - self.monotonic) // 1_000_000

    def jump_ms(self, later: Clocks) -> int | None:
        """Milliseconds the wall clock was set, or the machine slept, between two readings; None within the limit."""
        ran = later.monotonic - self.monotonic
        moved = (later.wall - self.wall) - ran
        if self.boot is not None and later.boot is not None:
            slept = (later.boot - self.boot) - ran
            moved = slept if abs(slept) > abs(moved) else moved
        jump = moved // 1_000_000
        return jump if abs(jump) > JUMP_LIMIT_MS else None
