"""D24: crashes of the writer at any moment and at any byte, and two writers at once, with real processes."""

import os
import random
import select
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ledger_samples import note, texts

from tui_bench.ledger.integrity import check
from tui_bench.ledger.reader import scan
from tui_bench.ledger.writer import LedgerWriter

KILLS = int(os.environ.get("TUI_BENCH_KILLS", "20"))

FLAT_OUT = """
import os, random, sys
from tui_bench.ledger.rows import EventRow
from tui_bench.ledger.writer import LedgerWriter
sizes = random.Random(int(sys.argv[2]))
writer = LedgerWriter.open(sys.argv[1])
while True:
    row = writer.append(EventRow(run_id="r", event="note", reason="x" * sizes.randint(1, 60_000)))
    os.write(1, b"%d\\n" % row.seq)
"""

FIFTY_ROWS = """
import sys
from tui_bench.errors import LedgerBusy
from tui_bench.ledger.rows import EventRow
from tui_bench.ledger.writer import LedgerWriter
try:
    writer = LedgerWriter.open(sys.argv[1], run_id="r")
except LedgerBusy as error:
    sys.exit(str(error))
for number in range(50):
    writer.append(EventRow(run_id="r", event="note", reason=sys.argv[2] + "x" * 20_000))
print("done", flush=True)
sys.stdin.read()
writer.close()
"""


def python(program: str, *words: object, **more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, *map(str, words)], **more)


def test_d24_no_row_that_append_returned_is_lost_to_a_sigkill(tmp_path):
    path = tmp_path / "l.jsonl"
    chance = random.Random(24)
    seen = 0
    for round_number in range(KILLS):
        child = python(FLAT_OUT, path, round_number, stdout=subprocess.PIPE)
        told = b""
        while told.count(b"\n") < chance.randint(1, 20):
            told += os.read(child.stdout.fileno(), 4096)
        select.select([], [], [], chance.random() * 0.003)
        child.send_signal(signal.SIGKILL)
        told += child.stdout.read()
        child.stdout.close()
        child.wait()
        acknowledged = int(told[: told.rindex(b"\n")].rsplit(b"\n", 1)[-1])
        rows = [line.row.seq for line in scan(path)]
        assert rows == list(range(1, len(rows) + 1))
        assert len(rows) >= acknowledged > seen
        seen = acknowledged
    with LedgerWriter.open(path) as writer:
        writer.append(note("after", run_id="r"))
    report = check(path)
    assert report.ok and not report.findings


def test_b17_of_two_processes_the_second_refuses_with_the_name_of_the_first(tmp_path):
    path = tmp_path / "l.jsonl"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    children = {name: python(FIFTY_ROWS, path, name, **pipes) for name in "ab"}
    ready, _, _ = select.select([child.stderr for child in children.values()], [], [], 30)
    assert len(ready) == 1, "exactly one of them has to be refused while the other still runs"
    (loser,) = (child for child in children.values() if child.stderr is ready[0])
    (winner,) = (child for child in children.values() if child is not loser)
    message = loser.communicate()[1].decode()
    assert loser.returncode == 1 and message.count("\n") == 1
    assert f"is being written by process {winner.pid} on " in message
    assert winner.stdout.readline() == b"done\n"
    assert winner.communicate(timeout=30) == (b"", b"") and winner.returncode == 0
    rows = texts(path)
    assert len(rows) == 50 and len({text[0] for text in rows}) == 1
    assert check(path).ok


def test_a_child_process_does_not_keep_the_lock(tmp_path):
    path = tmp_path / "l.jsonl"
    with LedgerWriter.open(path) as writer:
        writer.append(note("a"))
        child = python("input()", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=False)
    try:
        with LedgerWriter.open(path) as writer:
            writer.append(note("b"))
    finally:
        child.communicate(b"\n")
    assert texts(path) == ["a", "b"]


class CrashingLedger(RuleBasedStateMachine):
    """Rows are appended, sometimes made durable; a crash leaves any prefix that holds what was durable."""

    @initialize()
    def begin(self):
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "l.jsonl"
        self.writer = LedgerWriter.open(self.path)
        self.rows: list[tuple[str, int]] = []
        self.safe = 0

    @rule(text=st.text(max_size=40) | st.just("x" * 9000))
    def append(self, text):
        self.writer.append(note(text))
        self.rows.append((text, self.path.stat().st_size))

    @precondition(lambda self: self.rows)
    @rule()
    def make_durable(self):
        self.writer.sync()
        self.safe = self.rows[-1][1]

    @rule(share=st.floats(0, 1), junk=st.sampled_from([b"", b"\0" * 700, b'{"kind":"att', b"\xff"]))
    def crash(self, share, junk):
        self.writer.close()
        data = self.path.read_bytes()
        cut = self.safe + round((len(data) - self.safe) * share)
        self.path.write_bytes(data[:cut] + junk)
        self.rows = [row for row in self.rows if row[1] <= cut]
        end = self.rows[-1][1] if self.rows else 0
        self.writer = LedgerWriter.open(self.path)
        torn = data[end:cut] + junk
        assert (self.writer.recovered is None) == (torn == b"")
        if torn:
            assert self.writer.recovered.saved_as.read_bytes() == torn

    @rule()
    def reopen(self):
        self.writer.close()
        self.writer = LedgerWriter.open(self.path)
        assert self.writer.recovered is None

    @invariant()
    def all_rows_are_read(self):
        assert texts(self.path) == [text for text, _ in self.rows]
        assert self.writer.rows == len(self.rows)

    def teardown(self):
        if hasattr(self, "folder"):
            self.writer.close()
            report = check(self.path, head=self.writer.head)
            assert set(report.counts) <= {"empty"}
            self.folder.cleanup()


CrashingLedger.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestCrashingLedger = CrashingLedger.TestCase
