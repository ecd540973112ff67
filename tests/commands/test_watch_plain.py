"""`watch --plain`: a ledger as lines, the same live and afterwards, until the run is over or its runner is gone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from tui_bench.commands.plain import PlainReport, follow
from tui_bench.engine.requests import RunnerFile
from tui_bench.ledger.rows import AttemptRow, EventRow
from tui_bench.ledger.runs import Layout
from tui_bench.ledger.tail import Tail

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tui"))
from tui_ledgers import Book, story  # noqa: E402  (ledgers that the screen's tests write with the real writer)


def followed(path: Path) -> str:
    out = io.StringIO()
    follow(Layout(path), out, strict=False)
    return out.getvalue()


def test_a_finished_ledger_tells_every_event_the_reasons_and_the_verdict(tmp_path: Path) -> None:
    book = story(tmp_path / "run.jsonl")
    book.event("ended", outcome="complete")
    book.close()
    said = followed(tmp_path / "run.jsonl")
    assert "t11_折扣规则 there weak #2: void oracle_mutated" in said
    assert "void: 1 oracle_mutated: the oracle was changed during the attempt" in said
    assert "t10_pipe_status here: set apart before the run: already_solved" in said
    gates = [line for line in said.splitlines() if line.startswith("agent strong: GATE")]
    assert len(gates) >= 3 and "GATE ..." in gates[0] and "GATE OPEN" in gates[-1], gates
    assert said.splitlines()[-1].startswith("ledger: ")


def test_live_and_finished_give_the_same_lines(tmp_path: Path) -> None:
    whole = story(tmp_path / "whole.jsonl")
    whole.event("ended", outcome="complete")
    whole.close()
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "live.jsonl"
    path.write_bytes(b"".join(lines[:40]))
    rest = [b"".join(lines[40:90]) + lines[90][:30], lines[90][30:] + b"".join(lines[91:])]

    def write_more(seconds: float) -> None:
        with path.open("ab") as handle:
            handle.write(rest.pop(0))

    out = io.StringIO()
    follow(Layout(path), out, strict=False, sleep=write_more)
    assert not rest
    assert out.getvalue().replace(str(path), "L") == followed(tmp_path / "whole.jsonl").replace(
        str(tmp_path / "whole.jsonl"), "L"
    )


def test_a_runner_that_is_gone_ends_the_lines_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    story(path, upto=2).close()
    Layout(path).files.mkdir(exist_ok=True)
    gone = RunnerFile(run_id="x", ledger=str(path), socket="", pid=2**22 + 1, start_time=1, host="box", boot_id=None)
    gone.write(Layout(path).runner)
    out = io.StringIO()
    waits: list[float] = []
    follow(Layout(path), out, strict=False, sleep=waits.append)
    assert f"the runner is gone: `tui-bench resume {path}` goes on" in out.getvalue()
    assert 2.5 <= sum(waits) <= 3.5, "its last rows may still be under way"


def test_b65_hostile_text_is_cleaned(tmp_path: Path) -> None:
    book = Book(tmp_path / "run.jsonl")
    book.begin(["t\x1b]0;OWNED\x07\u202e"], ["e\x9b6n"], ["a[/x]"], attempts=1)
    book.attempt("t\x1b]0;OWNED\x07\u202e", "e\x9b6n", "a[/x]", 0, None, void="infra")
    book.event("ended", outcome="complete\x1b[2J")
    book.close()
    said = followed(tmp_path / "run.jsonl")
    assert not set("\x1b\x07\x9b\u202e") & set(said) and "a[/x]" in said


def test_the_command_prints_to_a_pipe_and_gives_the_gates_exit_code(tmp_path: Path) -> None:
    book = story(tmp_path / "run.jsonl")
    book.event("ended", outcome="complete")
    book.close()
    words = [sys.executable, "-m", "tui_bench", "watch", str(tmp_path / "run.jsonl"), "--plain"]
    home = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace(str(tmp_path / "run.jsonl"), "L") == followed(tmp_path / "run.jsonl").replace(
        str(tmp_path / "run.jsonl"), "L"
    )


def test_rows_written_before_a_resume_count_for_its_gates(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    book = story(path, upto=12)
    book.close()
    before = PlainReport(io.StringIO())
    rows = [line.row for line in Tail(path).poll() if line.row is not None]
    for row in rows[:-1]:
        before.show(row)
    out = io.StringIO()
    resumed = PlainReport(out, before.state)
    assert isinstance(rows[-1], AttemptRow | EventRow)
    resumed.show(rows[-1])
    resumed.show_gates()
    assert "12 tasks" in out.getvalue() or "11 tasks" in out.getvalue() or "11 of 11" in out.getvalue()

