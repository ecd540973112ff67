"""A program under a pty as a user would start it: when it paints, what it costs, how soon a key shows.

Linux alone: CPU and memory are read from procfs.
"""

from __future__ import annotations

import fcntl
import os
import pty
import random
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 160, 50
PATIENCE_S = 60.0
KEPT = 64 * 1024
"""Bytes of output that are searched for a mark."""
FAVOUR = -10
"""Weight of a probed program's session among all others, where the kernel weighs sessions and lets us say so."""
GAPS_S = (0.03, 0.06)
"""Pause before a key: neither in step with a program's timer nor in a queue with the key before."""


def variables() -> dict[str, str]:
    """The environment of every program here: one kind of terminal, this checkout, bytecode kept."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    return {
        **kept,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def favour(pid: int) -> None:
    """Give the session of a process weight among all others, so that a busy machine disturbs it less."""
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(FAVOUR))


class Program:
    """A child on a pty of 160 x 50 cells; its output is drained while something is waited for."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._recent = bytearray()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=variables(), cwd=ROOT, start_new_session=True
        )
        os.close(slave)
        favour(self._process.pid)

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def drain(self, seconds: float = 0.0) -> None:
        """Take in what the program says for so long; with 0 only what lies ready."""
        deadline = time.perf_counter() + seconds
        while select.select([self._master], [], [], max(0.0, deadline - time.perf_counter()))[0]:
            self._take()

    def _take(self) -> None:
        try:
            data = os.read(self._master, KEPT)
        except OSError:
            data = b""
        if not data:
            raise AssertionError(f"the program ended: {bytes(self._recent[-2000:])!r}")
        self._recent += data
        del self._recent[: -2 * KEPT]

    def shows(self, mark: re.Pattern[bytes], seconds: float = PATIENCE_S) -> float:
        """Wait for the mark in the output since the last key; the moment it was there, by `perf_counter`."""
        deadline = time.perf_counter() + seconds
        while not mark.search(self._recent):
            left = deadline - time.perf_counter()
            if left <= 0 or not select.select([self._master], [], [], left)[0]:
                raise AssertionError(f"{mark.pattern!r} never came: {bytes(self._recent[-2000:])!r}")
            self._take()
        return time.perf_counter()

    def press(self, key: bytes) -> float:
        """Send a key after everything painted until now has been taken in and put away; the moment it was sent."""
        self.drain()
        self._recent.clear()
        sent = time.perf_counter()
        os.write(self._master, key)
        return sent

    def key_to_paint(self, key: bytes, mark: re.Pattern[bytes], chance: random.Random) -> float:
        """Seconds from a key, sent after a random pause, to its mark."""
        self.drain(chance.uniform(*GAPS_S))
        sent = self.press(key)
        return self.shows(mark) - sent

    def cpu_s(self) -> float:
        """Seconds of CPU of all its threads since the start."""
        spent = 0
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            with suppress(FileNotFoundError):
                spent += int((task / "schedstat").read_text().split()[0])
        return spent / 1e9

    def cpu_during(self, seconds: float) -> float:
        """Seconds of CPU within the next `seconds`, its output drained meanwhile."""
        before = self.cpu_s()
        self.drain(seconds)
        return self.cpu_s() - before

    def memory_mb(self, field: str = "VmRSS") -> float:
        """Resident memory now (VmRSS) or at its peak (VmHWM), in 10^6 bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
        assert found, f"no {field}"
        return int(found.group(1)) * 1024 / 1e6


def settle(*programs: Program, seconds: float = 15.0, share: float = 0.05) -> None:
    """Wait until each has used less than `share` of a core for two seconds on end, at most so long.

    Shorter is not enough: a program may rest for a while before it does what it has put off.
    """
    deadline = time.perf_counter() + seconds
    quiet = 0
    while quiet < 4 and time.perf_counter() < deadline:
        before = [program.cpu_s() for program in programs]
        for program in programs:
            program.drain(0.5 / len(programs))
        spent = [program.cpu_s() - earlier for program, earlier in zip(programs, before, strict=True)]
        quiet = quiet + 1 if max(spent) < 0.5 * share else 0


def mark(text: str) -> re.Pattern[bytes]:
    """Text that a program writes in one piece."""
    return re.compile(re.escape(text.encode()))
