"""The screen in a real terminal: under a pty of ours, whose bytes are all kept, or in tmux."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte

OPEN = (
    "import sys; from pathlib import Path; from tui_bench.tui.app import run_app; "
    "left = run_app(Path(sys.argv[1]), None); print('left:', left.choice, left.code)"
)
"""What the terminal runs: the screen on one ledger, then a word about how it was left."""
PATIENCE_S = 60.0


def command(ledger: Path) -> list[str]:
    return [sys.executable, "-c", OPEN, str(ledger)]


def own_size() -> dict[str, str]:
    """The environment without the size of the terminal that the tests run in."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


class Terminal:
    """A child on a pty; `seen` keeps every byte it wrote, `screen` what a terminal makes of them."""

    def __init__(self, argv: list[str], columns: int, rows: int, env: dict[str, str] | None = None) -> None:
        self.seen = bytearray()
        self._picture = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._picture)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {**own_size(), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})}
        variables.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True, close_fds=True
        )
        os.close(slave)

    @property
    def lines(self) -> list[str]:
        return list(self._picture.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def read(self, seconds: float) -> None:
        """Take in what the child writes for so long."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                return
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            self.seen += data
            self._stream.feed(data)

    def until(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"never came true: {what}\n{self.text}")
            self.read(0.02)

    def shows(self, wanted: str) -> None:
        self.until(lambda: wanted in self.text, repr(wanted))

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def ends(self) -> int:
        """Wait for the child's end while reading what it says; its exit code."""
        self.until(lambda: self.process.poll() is not None, "the child's end")
        self.read(0.2)
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
