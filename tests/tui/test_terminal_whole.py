"""The screen in tmux: it fills, follows a resize, and however it ends the terminal is as it was."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tui_ledgers import Book, story
from tui_terminals import PATIENCE_S, command, own_size

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
RAW = "#{alternate_on}#{mouse_any_flag}"


class Tmux:
    """A tmux server of this test's own; each window runs a shell, so the terminal outlives the screen."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "tmux"
        self._folder = folder

    def run(self, *words: str) -> str:
        told = subprocess.run(
            ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            timeout=20,
            env=own_size(),
        )
        assert told.returncode == 0, f"{words}: {told.stderr}"
        return told.stdout

    def open(self, name: str, argv: list[str], columns: int, rows: int) -> None:
        pid = shlex.quote(str(self._folder / f"{name}.pid"))
        line = f"echo $$ > {pid}; exec {shlex.join(argv)}"
        shell = f"sh -c {shlex.quote(line)}; echo ended: $?; exec cat"
        self.run("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), shell)

    def pid(self, name: str) -> int:
        return int((self._folder / f"{name}.pid").read_text("utf-8"))

    def text(self, name: str) -> str:
        return self.run("capture-pane", "-p", "-t", name)

    def flags(self, name: str) -> str:
        return self.run("display", "-p", "-t", name, RAW).strip()

    def until(self, condition: Callable[[], object], what: str, name: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"never came true: {what}\n{self.text(name)}"
            time.sleep(0.05)

    def shows(self, name: str, wanted: str) -> None:
        self.until(lambda: wanted in self.text(name), wanted, name)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    subprocess.run(["tmux", "-S", str(tmp_path / "tmux"), "kill-server"], capture_output=True, check=False)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    book: Book = story(tmp_path / "run.jsonl")
    book.event("ended", outcome="complete")
    book.close()
    return book.path


def alive(pid: int) -> bool:
    """Whether the process still runs; one that only waits to be reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


ENDINGS: dict[str, tuple[str | int, str]] = {
    "q": ("q", "left: quit 0"),
    "ctrl-c": ("C-c", "left: quit 0"),
    "ctrl-q": ("C-q", "left: quit 0"),
    "SIGINT": (signal.SIGINT, "left: signal 130"),
    "SIGTERM": (signal.SIGTERM, "left: signal 143"),
    "SIGHUP": (signal.SIGHUP, "left: signal 129"),
}


def test_the_terminal_is_whole_after_every_ending(tmux: Tmux, ledger: Path) -> None:
    for number, name in enumerate(ENDINGS):
        size = (80, 24) if number % 2 else (160, 45)
        tmux.open(name, command(ledger), *size)
    for name, (means, said) in ENDINGS.items():
        tmux.shows(name, "t01_page_boundary")
        assert tmux.flags(name) == "11", "a full-screen program with the mouse"
        if isinstance(means, str):
            tmux.run("send-keys", "-t", name, means)
        else:
            os.kill(tmux.pid(name), means)
        tmux.shows(name, "ended: 0")
        assert said in tmux.text(name), name
        assert tmux.flags(name) == "00", f"{name}: other screen or mouse left on"
        tmux.run("send-keys", "-t", name, "typed", "Enter")
        tmux.shows(name, "typed\ntyped\n")


def test_it_follows_a_resize_and_ends_with_its_terminal(tmux: Tmux, ledger: Path) -> None:
    tmux.open("one", command(ledger), 160, 45)
    tmux.shows("one", "strong flips with")
    for columns, rows in ((80, 24), (50, 10), (120, 35), (160, 45)):
        tmux.run("resize-window", "-t", "one", "-x", str(columns), "-y", str(rows))
        wanted = "60 x 15" if columns == 50 else "q quit"
        tmux.until(lambda c=columns, w=wanted: w in tmux.text("one") and _fits(tmux.text("one"), c), wanted, "one")  # type: ignore[misc]
    tmux.shows("one", "strong flips with")
    pid = tmux.pid("one")
    tmux.run("new-session", "-d", "-s", "other", "cat")
    tmux.run("kill-session", "-t", "one")
    tmux.until(lambda: not alive(pid), "the end of a screen whose terminal was closed", "other")


def _fits(text: str, columns: int) -> bool:
    return max(map(len, text.splitlines())) <= columns


def test_ctrl_z_suspends_the_view_and_it_comes_back(tmux: Tmux, ledger: Path, tmp_path: Path) -> None:
    tmux.run("new-session", "-d", "-s", "shell", "-x", "80", "-y", "24", "bash --norc --noprofile -i")
    tmux.run("send-keys", "-t", "shell", shlex.join(command(ledger)), "Enter")
    tmux.shows("shell", "t01_page_boundary")
    tmux.run("send-keys", "-t", "shell", "C-z")
    tmux.until(lambda: tmux.flags("shell") == "00", "a whole terminal while suspended", "shell")
    tmux.run("send-keys", "-t", "shell", "fg", "Enter")
    tmux.until(lambda: tmux.flags("shell") == "11", "the screen again", "shell")
    tmux.shows("shell", "t01_page_boundary")
    tmux.run("send-keys", "-t", "shell", "q")
    tmux.shows("shell", "left: quit 0")
    assert tmux.flags("shell") == "00"
