"""D13: every system call of a ten-row run fails once, or for a while; nothing acknowledged is lost, nothing is torn."""

import asyncio
import errno
import os
import threading
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from ledger_samples import note, texts

from tui_bench.errors import LedgerError
from tui_bench.ledger.disk import LedgerIO
from tui_bench.ledger.integrity import check
from tui_bench.ledger.reader import scan
from tui_bench.ledger.writer import LedgerWriter

ROWS = 10
CALLS = ("open", "read", "write", "fstat", "truncate", "fsync", "fsync_folder", "flock")


class FailingIO(LedgerIO):
    """Real calls, of which those number `first` to `first + times - 1` of one name fail."""

    def __init__(self, name="", first=0, error=errno.EIO, times=1, part=None):
        self.name, self.first, self.error, self.times, self.part = name, first, error, times, part
        self.counts = Counter()
        self.failed = 0
        self.failed_fsyncs: set[int] = set()
        self.forgotten = 0
        self.safe_size = 0

    def due(self, name):
        self.counts[name] += 1
        return name == self.name and self.first <= self.counts[name] < self.first + self.times

    def fail(self):
        self.failed += 1
        raise OSError(self.error, os.strerror(self.error))

    def open(self, path, flags, mode=0o600):
        if self.due("open"):
            self.fail()
        descriptor = super().open(path, flags, mode)
        self.failed_fsyncs.discard(descriptor)
        return descriptor

    def read(self, descriptor, size, offset):
        return self.fail() if self.due("read") else super().read(descriptor, size, offset)

    def write(self, descriptor, data):
        if self.due("write"):
            if self.part is None:
                self.fail()
            self.failed += 1
            written = super().write(descriptor, bytes(data)[: int(len(data) * self.part)])
            if self.error:
                self.name, self.first, self.part = "write", self.counts["write"] + 1, None
            return written
        return super().write(descriptor, data)

    def fstat(self, descriptor):
        return self.fail() if self.due("fstat") else super().fstat(descriptor)

    def truncate(self, descriptor, size):
        return self.fail() if self.due("truncate") else super().truncate(descriptor, size)

    def fsync(self, descriptor):
        assert descriptor not in self.failed_fsyncs, "a descriptor whose fsync failed was synced again"
        if self.due("fsync"):
            self.failed_fsyncs.add(descriptor)
            self.lose_unsynced(descriptor)
            self.fail()
        super().fsync(descriptor)
        self.safe_size = os.fstat(descriptor).st_size

    def lose_unsynced(self, descriptor):
        """As after a failed write-back: what was not stored reads as zeros once the pages are dropped."""

    def fsync_folder(self, folder):
        return self.fail() if self.due("fsync_folder") else super().fsync_folder(folder)

    def flock(self, descriptor):
        return self.fail() if self.due("flock") else super().flock(descriptor)


class ForgetfulIO(FailingIO):
    def __init__(self, path, **more):
        super().__init__(**more)
        self.path = path

    def lose_unsynced(self, descriptor):
        size = os.fstat(descriptor).st_size
        with open(self.path, "r+b") as file:
            file.seek(self.safe_size)
            file.write(b"\0" * (size - self.safe_size))


def ten_rows(path: Path, io: FailingIO) -> int:
    """Write ten rows, each made durable, trying again whatever fails. Returns the number of errors met.

    After each error the file must hold all acknowledged rows, and nothing but complete rows before its last newline.
    """
    errors = 0
    acknowledged = 0
    writer: LedgerWriter | None = None
    try:
        while acknowledged < ROWS:
            try:
                if writer is None:
                    writer = LedgerWriter.open(path, io)
                if writer.kept is not None or writer.rows > acknowledged:
                    writer.retry()
                else:
                    writer.append(note(str(acknowledged)))
                writer.sync()
                acknowledged = writer.rows
            except LedgerError as error:
                errors += 1
                assert "\n" not in str(error) and str(path) in str(error)
                assert errors < 20, "does not go on after the repair"
                if path.exists() and not isinstance(io, ForgetfulIO):
                    assert texts(path)[:acknowledged] == [str(number) for number in range(acknowledged)]
    finally:
        if writer is not None:
            writer.close()
    return errors


def all_well(path: Path) -> None:
    assert texts(path) == [str(number) for number in range(ROWS)]
    report = check(path)
    assert report.ok and not report.findings
    assert list(path.parent.glob("*.torn-*")) == []


def calls_of_a_clean_run(tmp_path: Path) -> Counter:
    io = FailingIO()
    ten_rows(tmp_path / "clean.jsonl", io)
    return io.counts


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("name", ["open", "read", "write", "fstat", "fsync", "fsync_folder", "flock"])
def test_d13_any_call_fails_and_the_run_goes_on_after_the_repair(tmp_path, name, error, times):
    total = calls_of_a_clean_run(tmp_path)[name]
    assert total > 0
    met = 0
    for first in range(1, total + 1):
        path = tmp_path / f"{first}" / "l.jsonl"
        io = FailingIO(name, first, error, times)
        met += ten_rows(path, io)
        assert io.failed >= 1
        all_well(path)
    assert met > 0 or (name, times) == ("fsync", 1)


@pytest.mark.parametrize(
    ("part", "error"), [*product((0.01, 0.5, 0.99), (0, errno.EIO, errno.ENOSPC)), (0.0, errno.EIO)]
)
def test_d13_a_short_write_and_then_success_or_an_error(tmp_path, part, error):
    for first in range(1, ROWS + 1):
        path = tmp_path / f"{first}" / "l.jsonl"
        io = FailingIO("write", first, error, part=part)
        errors = ten_rows(path, io)
        assert (errors > 0) == bool(error)
        all_well(path)


@pytest.mark.parametrize("first", range(1, ROWS + 1))
def test_d13_half_a_row_that_cannot_be_cut_off_at_once_is_cut_off_before_the_next(tmp_path, first):
    path = tmp_path / "l.jsonl"

    class StuckIO(FailingIO):
        def truncate(self, descriptor, size):
            self.counts["truncate"] += 1
            if self.counts["truncate"] <= 3:
                self.fail()
            LedgerIO.truncate(self, descriptor, size)

    io = StuckIO("write", first, errno.EIO, part=0.5)
    assert ten_rows(path, io) == 3
    all_well(path)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_d13_rows_that_the_kernel_dropped_after_a_failed_fsync_are_written_again(tmp_path, times):
    for first in range(1, ROWS + 1):
        path = tmp_path / f"{first}" / "l.jsonl"
        io = ForgetfulIO(path, name="fsync", first=first, times=times)
        errors = ten_rows(path, io)
        assert (errors == 0) == (times == 1), "a single failure is mended without anybody noticing"
        all_well(path)


def test_d13_while_rows_cannot_be_made_durable_no_further_row_is_written(tmp_path):
    path = tmp_path / "l.jsonl"
    io = FailingIO("fsync", 1, errno.EIO, times=4)
    writer = LedgerWriter.open(path, io)
    writer.append(note("0"))
    with pytest.raises(LedgerError, match="Input/output error"):
        writer.sync()
    with pytest.raises(LedgerError, match="cannot be made durable"):
        writer.append(note("1"))
    assert writer.kept == note("1") and texts(path) == ["0"]
    for _ in range(10):
        try:
            writer.retry()
            break
        except LedgerError:
            continue
    assert texts(path) == ["0", "1"] and writer.kept is None
    writer.close()


def test_d13_a_close_that_cannot_make_rows_durable_says_so_and_gives_the_lock_back(tmp_path):
    path = tmp_path / "l.jsonl"
    writer = LedgerWriter.open(path, FailingIO("fsync", 1, errno.EIO, times=99), window_s=60)
    writer.append(note("0"))
    with pytest.raises(LedgerError, match="Input/output error"):
        writer.close()
    with LedgerWriter.open(path) as again:
        again.append(note("1"))
    assert texts(path) == ["0", "1"]


async def test_d13_who_waits_while_a_broken_ledger_is_closed_is_told_and_does_not_hang(tmp_path):
    writer = LedgerWriter.open(tmp_path / "l.jsonl", FailingIO("fsync", 1, errno.EIO, times=99), window_s=60)
    writer.append(note("0"))
    with pytest.raises(LedgerError, match="cannot be made durable"):
        writer.sync()
    waiting = asyncio.ensure_future(writer.durable())
    await asyncio.sleep(0)
    with pytest.raises(LedgerError, match="cannot be made durable"):
        writer.close()
    with pytest.raises(LedgerError):
        await asyncio.wait_for(waiting, 10)
    with pytest.raises(LedgerError, match="closed"):
        await writer.durable()


async def test_d13_who_waits_is_told_also_when_the_commit_meets_what_nobody_foresaw(tmp_path, monkeypatch):
    class BrokenIO(LedgerIO):
        def fsync(self, descriptor):
            raise RuntimeError("a fault in the program")

    monkeypatch.setattr(threading, "excepthook", lambda details: None)
    writer = LedgerWriter.open(tmp_path / "l.jsonl", BrokenIO())
    writer.append(note("0"))
    with pytest.raises(LedgerError, match="closed"):
        await asyncio.wait_for(writer.durable(), 10)
    with pytest.raises(LedgerError):
        writer.close()


def test_d13_the_cure_is_named_for_a_full_disk(tmp_path):
    io = FailingIO("write", 1, errno.ENOSPC)
    with LedgerWriter.open(tmp_path / "l.jsonl", io) as writer:
        with pytest.raises(LedgerError, match=r"No space left on device; free some space"):
            writer.append(note("0"))
        assert writer.retry().reason == "0"


@pytest.mark.parametrize("name", ["open", "read", "write", "fsync", "fsync_folder", "truncate"])
def test_d13_setting_a_torn_tail_aside_fails_at_any_call_and_loses_nothing(tmp_path, name):
    for first in range(1, 8):
        path = tmp_path / f"{name}{first}" / "l.jsonl"
        with LedgerWriter.open(path) as writer:
            writer.append(note("0"))
        with open(path, "ab") as file:
            file.write(b"torn")
        try:
            LedgerWriter.open(path, FailingIO(name, first)).close()
        except LedgerError:
            saved = [file.read_bytes() for file in path.parent.glob("*.torn-*")]
            assert path.read_bytes().endswith(b"torn") or b"torn" in saved
        with LedgerWriter.open(path) as writer:
            writer.append(note("1"))
        assert texts(path) == ["0", "1"]
        assert b"torn" in [file.read_bytes() for file in path.parent.glob("*.torn-*")]
        assert scan(path).unfinished == 0


def test_d13_the_torn_tail_is_safe_elsewhere_before_it_is_cut_off_here(tmp_path):
    path = tmp_path / "l.jsonl"
    path.write_bytes(b"torn")
    calls = []

    class RecordingIO(LedgerIO):
        def fsync(self, descriptor):
            calls.append(("fsync", os.fstat(descriptor).st_ino))
            super().fsync(descriptor)

        def fsync_folder(self, folder):
            calls.append(("fsync_folder", os.stat(folder).st_ino))
            super().fsync_folder(folder)

        def truncate(self, descriptor, size):
            calls.append(("truncate", os.fstat(descriptor).st_ino))
            super().truncate(descriptor, size)

    with LedgerWriter.open(path, RecordingIO()) as writer:
        saved = writer.recovered.saved_as
    assert calls == [
        ("fsync", saved.stat().st_ino), ("fsync_folder", tmp_path.stat().st_ino), ("truncate", path.stat().st_ino),
    ]  # fmt: skip
