"""D23, B65 and B66 on the task screen: nothing that stands in rows, logs, diffs or prompts acts on the terminal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from test_hostile_text import EVERY_CODE, HOSTILE, own_sequences_only
from tui_ledgers import Book, attempt_row
from tui_terminals import Terminal, command

from tui_bench.ledger.rows import FileRef, PhasesMs, Resources
from tui_bench.tui.clean_stream import clean_piece


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """One task with hostile text in everything a row can hold and in every file beside it."""
    path = tmp_path / "run.jsonl"
    book = Book(path)
    task, envs, agents = f"task0 {HOSTILE}", [f"e{n}{HOSTILE}" for n in range(2)], [f"a{n}{HOSTILE}" for n in range(2)]
    book.begin([task], envs, agents, attempts=2)
    raw = b"first " + HOSTILE.encode() + b"\n" + EVERY_CODE.encode() + b"\n" + random.Random(7).randbytes(20_000)
    folder = book.layout.attempt_folder(task, envs[0], agents[0], 0)
    folder.mkdir(parents=True)
    name = HOSTILE.encode()
    diff = b"diff --git a/x b/" + name + b"\n+" + raw + b"\ndiff --git a/y b/y\n-" + name + b"\n"
    files = {}
    for name, file, content in (
        ("patch", "patch.diff", diff), ("agent_log", "agent.log", raw), ("verify_log", "verify.log", raw),
    ):  # fmt: skip
        (folder / file).write_bytes(content)
        files[name] = FileRef(path=book.layout.relative(folder / file), sha256="0" * 64, bytes=len(content))
    (folder / "verify.1.log").write_bytes(raw)
    prompt = book.layout.prompt(task)
    prompt.parent.mkdir(parents=True)
    prompt.write_bytes(raw)
    book.add(attempt_row(
        task, envs[0], agents[0], 0, None, void="infra", void_causes=["infra", HOSTILE], void_detail=HOSTILE,
        verify_cmd=["sh", HOSTILE], verify_runs=[0, 1], dropped=[HOSTILE], left_behind=[HOSTILE], usage_error=HOSTILE,
        patch_error=HOSTILE, usage_source=HOSTILE, enforced={HOSTILE: HOSTILE}, phases_ms=PhasesMs(agent=5),
        resources=Resources(cpu_ms=1), files=files, patch_sha256=HOSTILE[:60], env_sha=HOSTILE[:60],
    ))  # fmt: skip
    book.attempt(task, envs[0], agents[0], 0, False, replaces=9, fail_reason=HOSTILE, verify_stdout_tail=HOSTILE)
    book.attempt(task, envs[1], agents[0], 2, False, role="probe")
    book.started(task, envs[1], agents[1], 0, log=raw)
    book.close()
    return path


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
def test_d23_no_text_of_an_attempt_acts_on_the_terminal(hostile: Path, size: tuple[int, int]) -> None:
    terminal = Terminal(command(hostile), *size)
    try:
        terminal.shows("task0")
        terminal.press("\r")
        terminal.shows("Attempts 8")
        for keys in (
            "g", "]", "[", *"]]]]]]]", *"[[[[[[[[", "\t", "w", "G", "g", "lll", "/first\r", "n", "N", "y", "q", "q",
            "\t", "j", *"]]]]]", "G", "w", "z", "z", "?",
        ):  # fmt: skip
            terminal.press(keys)
            terminal.read(0.12)
        terminal.shows("Help")
        terminal.press("q")
        terminal.read(0.3)
        terminal.press("\x11")
        assert terminal.ends() == 0
    finally:
        terminal.close()
    own_sequences_only(bytes(terminal.seen))


def test_b66_what_a_pager_gets_is_clean() -> None:
    raw = b"plain\n" + HOSTILE.encode() + b"\n" + EVERY_CODE.encode() + b"\n" + random.Random(3).randbytes(5000)
    clean = clean_piece(raw).decode("utf-8")
    assert clean.startswith("plain\n")
    assert clean.count("\n") == raw.count(b"\n")
    own_sequences_only(clean.replace("\n", "").encode())
    assert "\x1b" not in clean and "\x9b" not in clean and "\u202e" not in clean
    assert clean_piece(b"a\tb\nc") == b"a\tb\nc"
