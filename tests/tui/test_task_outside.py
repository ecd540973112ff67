"""Editor, pager and shell from the task screen of a real run, in tmux: what they get, and the screen that returns."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import Bench, Ran
from test_terminal_whole import Tmux, alive

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
EDIT = "printf 'two\\n' > word.txt; printf 'see \\033]0;OWNED\\007 [/usr/bin/x]\\n'"


@pytest.fixture
def ran(bench: Bench) -> Ran:
    bench.task("t1", verify="grep -q two word.txt", repo={"word.txt": "one\n"}, prompt="write two\n")
    bench.agents({"name": "editor", "kind": "scripted", "command": EDIT})
    bench.environments({"name": "here", "env.GREETING": "good day"})
    bench.save()
    return bench.run("--headless", check=(0, 1, 3))


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    subprocess.run(["tmux", "-S", str(tmp_path / "tmux"), "kill-server"], capture_output=True, check=False)


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def window(tmux: Tmux, bench: Bench, ran: Ran, tmp_path: Path) -> Tmux:
    """The task screen of the only task, its programs being scripts that note what they got."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    settings = {
        **bench.variables,
        "TERM": "screen-256color",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": str(temporary),
        "EDITOR": script(tmp_path / "edit", f'cp "$1" {tmp_path}/edited; echo >> "$1"; echo editing; read x'),
        "PAGER": script(tmp_path / "page", f"cat > {tmp_path}/paged; echo paging; read x < /dev/tty"),
        "SHELL": "/bin/sh",
        "PS1": "ready> ",
    }
    settings.pop("VISUAL", None)
    assigned = [f"{name}={value}" for name, value in settings.items()]
    tmux.open("one", ["env", *assigned, *bench.command("watch", str(ran.ledger))], 120, 30)
    tmux.shows("one", "t1")
    tmux.run("send-keys", "-t", "one", "Enter")
    tmux.shows("one", "Passes everywhere: 1 of 1 attempt.")
    tmux.shows("one", "+two")
    return tmux


def back(window: Tmux) -> None:
    window.until(lambda: window.flags("one") == "11", "the whole screen again", "one")
    window.shows("one", "Passes everywhere")


def test_the_editor_gets_a_copy_and_an_interrupt_in_it_ends_it_alone(window: Tmux, ran: Ran, tmp_path: Path) -> None:
    patch = ran.ledger.with_suffix("") / ran.attempts[0]["files"]["patch"]["path"]
    before = patch.read_bytes()
    window.run("send-keys", "-t", "one", "e")
    window.shows("one", "editing")
    assert window.flags("one") == "00", "the terminal is the editor's"
    window.run("send-keys", "-t", "one", "C-c")
    back(window)
    assert (tmp_path / "edited").read_bytes() == before == patch.read_bytes()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_b66_the_pager_gets_clean_text(window: Tmux, tmp_path: Path) -> None:
    window.run("send-keys", "-t", "one", "]")
    window.shows("one", "[/usr/bin/x]")
    window.run("send-keys", "-t", "one", "o")
    window.shows("one", "paging")
    window.run("send-keys", "-t", "one", "Enter")
    back(window)
    paged = (tmp_path / "paged").read_bytes()
    assert b"[/usr/bin/x]" in paged and b"\x1b" not in paged and b"\x07" not in paged


def test_the_shell_stands_in_a_fresh_tree_that_is_gone_afterwards(window: Tmux, tmp_path: Path) -> None:
    window.run("send-keys", "-t", "one", "!")
    window.shows("one", "A fresh copy of t1 editor here #1")
    window.shows("one", "ready>")
    line = f'cat word.txt > {tmp_path}/said; echo "$GREETING" >> {tmp_path}/said; pwd >> {tmp_path}/said; touch x'
    window.run("send-keys", "-t", "one", line, "Enter")
    window.until(lambda: (tmp_path / "said").exists() and len(_said(tmp_path)) == 3, "three lines", "one")
    word, greeting, place = _said(tmp_path)
    assert (word, greeting) == ("two", "good day")
    assert Path(place).is_relative_to(tmp_path / "temporary")
    window.run("send-keys", "-t", "one", "exit", "Enter")
    back(window)
    window.shows("one", "The copy of the tree is removed.")
    assert not Path(place).exists()


@pytest.mark.parametrize(("key", "said"), [("e", "editing"), ("!", "ready>")])
def test_a_signal_ends_the_program_and_the_screen(window: Tmux, tmp_path: Path, key: str, said: str) -> None:
    window.run("send-keys", "-t", "one", key)
    window.shows("one", said)
    os.kill(window.pid("one"), signal.SIGTERM)
    window.shows("one", "ended: 143")
    assert window.flags("one") == "00"
    window.run("send-keys", "-t", "one", "typed", "Enter")
    window.shows("one", "typed\ntyped\n")
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("lent", [True, False])
def test_a_terminal_that_is_closed_ends_the_screen_and_leaves_nothing(window: Tmux, tmp_path: Path, lent: bool) -> None:
    pid = window.pid("one")
    window.run("send-keys", "-t", "one", "!")
    window.shows("one", "ready>")
    if not lent:
        window.run("send-keys", "-t", "one", "exit", "Enter")
        back(window)
    window.run("new-session", "-d", "-s", "other", "cat")
    window.run("kill-session", "-t", "one")
    window.until(lambda: not alive(pid), "the end of a screen whose terminal was closed", "other")
    assert list((tmp_path / "temporary").iterdir()) == []


def _said(tmp_path: Path) -> list[str]:
    return (tmp_path / "said").read_text().splitlines()
