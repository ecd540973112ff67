"""A terminal that is gone ends the application, also when no signal says so."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

from small_studies import Bench

from tui_bench.tui.hangup import watch_terminal


def test_the_hangup_of_a_terminal_is_noticed_and_input_is_not_taken_for_one() -> None:
    ours, theirs = pty.openpty()
    told = threading.Event()
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        told.set()

    watch_terminal(theirs, leave)
    os.write(ours, b"typed\n")
    assert not told.wait(1.5)
    os.close(ours)
    assert told.wait(10)
    assert codes == [129]
    os.close(theirs)


def test_an_application_whose_terminal_vanished_without_a_signal_does_not_stay(bench: Bench, tmp_path: Path) -> None:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.save()
    ledger = bench.run("--headless").ledger
    ours, theirs = pty.openpty()
    # Without a controlling terminal nobody sends SIGHUP.
    app = subprocess.Popen(
        [sys.executable, "-m", "tui_bench", "watch", str(ledger)], stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, env={**bench.variables, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while b"one" not in seen:
        seen += os.read(ours, 65536)
    os.close(ours)
    began = time.monotonic()
    app.wait(timeout=20)
    assert app.returncode == 129
    assert time.monotonic() - began < 20
