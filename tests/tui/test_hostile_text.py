"""D23 and B66: whatever stands in a ledger or a log, the terminal gets none of it as a command."""

from __future__ import annotations

import random
import re
import threading
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tui_ledgers import Book
from tui_terminals import Terminal, command

HOSTILE = (
    "\x1b]52;c;aGVsbG8=\x07\x1b]0;OWNED\x07\x1b]8;;https://x.example\x1b\\L\x1b]8;;\x1b\\\x1bP1$r0m\x1b\\"
    "\x1b[6n\x1b[2J\x1b[?1049l\x1b[31;1mred\x1b[0m\x9d0;OWNED\x9c\x9b6n\u202e\u2066\u200b\u200f[bold][/x][@click=app.quit]q[/]"
)
EVERY_CODE = "".join(
    chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf") and code != 0x0A
)
MINE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\]22;[a-z-]*\x07)")
"""Sequences the screen itself may send: CSI, and the shape of the mouse pointer."""
FINALS = frozenset(b"mHhlup")
"""Last bytes of its CSI sequences: colour, place, modes on and off, keyboard protocol, mode request."""
ANSWER_S = 0.2
PANES = (
    "}", "}", "}", "}", "n", "N", "s", "v", "v", "v", "v", "r", "R", "x", "/", "e\x1b]0;OWNED", "\r", "z", "z", ":",
    "\x1b", "\x1b",
)  # fmt: skip
"""Keys that bring every pane, question and list of the main screen onto it."""


def own_sequences_only(seen: bytes) -> None:
    """Every escape in the stream is one that a full-screen program sends, and no character is one that acts."""
    rest = MINE.sub(b"", seen)
    assert b"\x1b" not in rest, rest[max(0, rest.find(b"\x1b") - 40) : rest.find(b"\x1b") + 40]
    finals = {match[0][-1] for match in MINE.finditer(seen) if match[0].startswith(b"\x1b[")}
    assert finals <= FINALS, sorted(map(chr, finals))
    text = rest.decode("utf-8")
    bad = {character for character in text if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert bad <= {"\r", "\n"}, bad


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A ledger with hostile text in every name, reason and log."""
    path = tmp_path / "run.jsonl"
    book = Book(path)
    tasks = [f"task{number} {HOSTILE}" for number in range(3)]
    envs = [f"e{number}{HOSTILE}" for number in range(2)]
    agents = [f"a{number}{HOSTILE}" for number in range(2)]
    book.begin(tasks, envs, agents, attempts=1)
    book.event("screened", task=tasks[2], env=envs[0], outcome=f"odd{HOSTILE}", reason=HOSTILE)
    raw = HOSTILE.encode() + b"\n" + EVERY_CODE.encode() + b"\n" + random.Random(7).randbytes(20_000)
    logs = {"agent": raw, "verify": raw + b"\n" + b"\x1b]0;OWNED " * 300_000 + b"\nlast " + HOSTILE.encode()}
    book.attempt(tasks[0], envs[0], agents[0], 0, None, logs, void="infra", void_detail=HOSTILE)
    book.attempt(tasks[0], envs[1], agents[0], 0, False, verify_stdout_tail=HOSTILE, verify_stderr_tail=EVERY_CODE)
    book.started(tasks[1], envs[0], agents[1], 0, log=raw)
    book.event("paused", reason=HOSTILE)
    book.close()
    return path


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
def test_d23_no_text_from_outside_acts_on_the_terminal(hostile: Path, size: tuple[int, int]) -> None:
    terminal = Terminal(command(hostile), *size)
    try:
        terminal.shows("task0")
        for keys in ("j", "k", "w", "\t", "g", "w", "G", "\x1b", "l", "]", "[", "f", "f", "X", "p", *PANES, "?"):
            terminal.press(keys)
            # Escape alone is told from the start of a sequence by what does not follow.
            terminal.read(0.6 if keys == "\x1b" else 0.15)
        terminal.shows("Help")
        terminal.press("q")
        terminal.read(0.3)
        terminal.press("q")
        assert terminal.ends() == 0
        assert "left: quit 0" in terminal.text
    finally:
        terminal.close()
    own_sequences_only(bytes(terminal.seen))


@pytest.fixture
def flooded(tmp_path: Path) -> Iterator[Path]:
    """A running attempt whose log grows by 200,000 lines a second."""
    path = tmp_path / "run.jsonl"
    book = Book(path)
    book.begin([f"task{n}" for n in range(20)], attempts=1)
    book.started("task0", "here", "strong", 0, log=b"begin\n")
    target = book.layout.attempt_folder("task0", "here", "strong", 0) / "agent.log"
    stop = threading.Event()
    chunk = "".join(f"\x1b[3{n % 8}mline {n}\x1b[0m of a talkative program\n" for n in range(10_000)).encode()

    def flood() -> None:
        with target.open("ab", buffering=0) as handle:
            while not stop.wait(0.05):
                handle.write(chunk)

    thread = threading.Thread(target=flood)
    thread.start()
    yield path
    stop.set()
    thread.join()
    book.close()


def test_d23_keys_are_answered_and_memory_stays_while_a_log_floods(flooded: Path) -> None:
    terminal = Terminal(command(flooded), 120, 35)
    try:
        terminal.shows("talkative")
        before = psutil.Process(terminal.process.pid).memory_info().rss
        took: list[float] = []
        for row in range(1, 10):
            started = time.monotonic()
            terminal.press("\x1b[B")
            terminal.until(lambda row=row: f"› task{row}" in terminal.text, f"the cursor on task{row}")  # type: ignore[misc]
            took.append(time.monotonic() - started)
            terminal.press("f" if row == 4 else "\x1b[C")
            terminal.read(0.2)
        assert sorted(took)[len(took) // 2] < ANSWER_S, took
        assert psutil.Process(terminal.process.pid).memory_info().rss - before < 50_000_000
        terminal.press("q")
        assert terminal.ends() == 0
    finally:
        terminal.close()
