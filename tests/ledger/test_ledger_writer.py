"""The writer: rows in order, one write each, one writer at a time, torn tails set aside, damage refused."""

import asyncio
import hashlib
import json
import os
import stat
import threading
import time
from pathlib import Path

import pytest
from ledger_samples import RUN, attempt, note, texts, write

from tui_bench.errors import LedgerBusy, LedgerDamaged, LedgerError
from tui_bench.ledger.canonical import seal
from tui_bench.ledger.disk import LedgerIO, is_network, type_of_mount
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import GENESIS
from tui_bench.ledger.writer import LedgerWriter


class CountingIO(LedgerIO):
    """Real system calls, counted."""

    def __init__(self):
        self.writes: list[bytes] = []
        self.synced: list[int] = []

    def write(self, descriptor, data):
        self.writes.append(bytes(data))
        return super().write(descriptor, data)

    def fsync(self, descriptor):
        super().fsync(descriptor)
        self.synced.append(os.fstat(descriptor).st_size)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "runs" / "r.jsonl"


def test_rows_are_numbered_dated_and_chained(path):
    times = iter([1_790_000_000.0] + [1_790_000_000.0 + index / 2 for index in range(10)])
    with LedgerWriter.open(path, clock=lambda: next(times)) as writer:
        assert (writer.rows, writer.head, writer.recovered) == (0, GENESIS, None)
        rows = [writer.append(note(str(number))) for number in range(3)]
        assert (writer.rows, writer.head) == (3, rows[-1].sha)
    assert [row.seq for row in rows] == [1, 2, 3]
    assert [row.prev for row in rows] == [GENESIS, rows[0].sha, rows[1].sha]
    assert [row.at for row in rows] == [
        "2026-09-21T14:13:20.000Z", "2026-09-21T14:13:20.500Z", "2026-09-21T14:13:21.000Z",
    ]
    assert [line.row for line in scan(path)] == rows


def test_a_ledger_is_private_and_its_folders_are_made(path):
    write(path, note())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_row_is_one_write_and_visible_before_append_returns(path):
    io = CountingIO()
    with LedgerWriter.open(path, io) as writer:
        for number in range(5):
            writer.append(attempt(number))
            assert len(io.writes) == number + 1
            assert io.writes[-1].endswith(b"\n") and io.writes[-1].count(b"\n") == 1
            assert path.read_bytes() == b"".join(io.writes)


def test_opening_again_goes_on_where_it_ended(path):
    first = write(path, note("a"), note("b"))
    second = write(path, note("c"))
    assert (second[0].seq, second[0].prev) == (3, first[1].sha)
    assert texts(path) == ["a", "b", "c"]


async def test_durable_returns_after_an_fsync_that_covers_the_row(path):
    io = CountingIO()
    with LedgerWriter.open(path, io) as writer:
        writer.append(note("a"))
        await writer.durable()
        assert io.synced[-1] == path.stat().st_size
        count = len(io.synced)
        await writer.durable()
        assert len(io.synced) == count


async def test_a_thousand_who_wait_at_once_share_few_fsyncs(path):
    io = CountingIO()
    with LedgerWriter.open(path, io) as writer:
        seen = []

        async def one(number):
            row = writer.append(note(str(number)))
            await writer.durable()
            seen.append((row.seq, io.synced[-1]))

        await asyncio.gather(*(one(number) for number in range(1000)))
    assert len(io.synced) < 50
    ends = {line.number: line.offset + line.length + 1 for line in scan(path)}
    assert all(synced >= ends[seq] for seq, synced in seen)


async def test_one_who_gives_up_waiting_does_not_stop_the_others(path):
    with LedgerWriter.open(path) as writer:
        writer.append(note())
        waiting = [asyncio.ensure_future(writer.durable()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting[1:])
        assert waiting[0].cancelled()


def test_a_row_nobody_waits_for_is_durable_within_the_window(path):
    synced = threading.Event()

    class SignallingIO(LedgerIO):
        def fsync(self, descriptor):
            super().fsync(descriptor)
            synced.set()

    with LedgerWriter.open(path, SignallingIO()) as writer:
        started = time.monotonic()
        writer.append(note())
        assert synced.wait(10)
        assert time.monotonic() - started >= 0.045


def test_rows_can_be_awaited_from_threads_and_several_loops(path):
    with LedgerWriter.open(path) as writer:
        for _ in range(3):
            writer.append(note())
            asyncio.run(writer.durable())
            writer.append(note())
            writer.sync()
    assert len(texts(path)) == 6


def test_closing_makes_rows_durable_and_a_closed_writer_writes_nothing(path):
    io = CountingIO()
    writer = LedgerWriter.open(path, io, window_s=60)
    writer.append(note("a"))
    writer.close()
    writer.close()
    assert io.synced[-1] == path.stat().st_size
    with pytest.raises(LedgerError, match="is closed"):
        writer.append(note("b"))
    assert texts(path) == ["a"]


def test_closing_an_untouched_ledger_is_quick_and_leaves_it(path):
    write(path, note())
    before = path.read_bytes()
    started = time.monotonic()
    LedgerWriter.open(path).close()
    assert path.read_bytes() == before
    assert time.monotonic() - started < 1


def test_b16_a_torn_last_line_is_set_aside_and_the_next_row_stands_alone(path):
    write(path, note("1"))
    torn = b'{"task":"t02","pas'
    with open(path, "ab") as file:
        file.write(torn)
    offset = path.stat().st_size - len(torn)
    with LedgerWriter.open(path) as writer:
        found = writer.recovered
        assert (found.offset, found.length, found.line) == (offset, len(torn), 2)
        assert found.saved_as == path.with_name(f"r.jsonl.torn-{offset}")
        writer.append(note("3"))
        writer.append(note("4"))
    assert texts(path) == ["1", "3", "4"]
    assert found.saved_as.read_bytes() == torn
    assert hashlib.sha256(torn).hexdigest() == found.sha256
    with LedgerWriter.open(path) as writer:
        assert writer.recovered is None


def test_b16_a_second_tear_at_the_same_place_keeps_both(path):
    for text in (b"one", b"two"):
        write(path)
        path.write_bytes(text)
        LedgerWriter.open(path).close()
    assert sorted(file.read_bytes() for file in path.parent.glob("*.torn-0*")) == [b"one", b"two"]
    assert path.read_bytes() == b""


def test_x0_12_every_cut_point_of_the_last_row_reopens_and_takes_rows(path):
    write(path, note("a"), note("b"))
    whole = path.read_bytes()
    last = whole.index(b"\n") + 1
    for cut in range(last, len(whole) + 1):
        path.write_bytes(whole[:cut])
        with LedgerWriter.open(path) as writer:
            assert (writer.recovered is None) == (cut in (last, len(whole)))
            writer.append(note("c"))
        assert texts(path) == (["a", "b", "c"] if cut == len(whole) else ["a", "c"])


def test_a_tail_of_nuls_after_a_power_loss_is_a_torn_tail(path):
    write(path, note("a"))
    with open(path, "ab") as file:
        file.write(b"\0" * 5000)
    with LedgerWriter.open(path) as writer:
        assert writer.recovered.length == 5000
        writer.append(note("b"))
    assert texts(path) == ["a", "b"]


def test_a_torn_tail_of_many_megabytes_is_copied_whole(path):
    write(path, note("a"))
    with open(path, "ab") as file:
        file.write(b"y" * 3_000_001)
    with LedgerWriter.open(path) as writer:
        assert writer.recovered.length == 3_000_001
        assert writer.recovered.saved_as.stat().st_size == 3_000_001


def damage(path: Path, how: str) -> int:
    """Spoil a ledger of five rows; returns the line that has to be named."""
    lines = path.read_bytes().splitlines(keepends=True)
    if how == "not json":
        lines[2] = b'{"task":"t02","pas\n'
    elif how == "edited":
        lines[2] = lines[2].replace(b'"reason":"2"', b'"reason":"9"')
    elif how == "last edited":
        lines[4] = lines[4].replace(b'"reason":"4"', b'"reason":"9"')
        path.write_bytes(b"".join(lines))
        return 5
    elif how == "removed":
        del lines[2]
    elif how == "swapped":
        lines[2], lines[3] = lines[3], lines[2]
    elif how == "twice":
        lines.insert(2, lines[1])
    elif how == "empty line":
        lines.insert(2, b"\n")
    elif how == "carriage return":
        lines[2] = lines[2][:-1] + b"\r\n"
    elif how == "re-sealed":
        row = json.loads(lines[2])
        new = seal(note("9"), row["seq"], row["prev"], row["at"])
        lines[2] = new.line + b"\n"
        path.write_bytes(b"".join(lines))
        return 4
    elif how == "other run":
        row = json.loads(lines[1])
        lines[2:] = [seal(note("9", run_id="other"), 3, row["sha"], row["at"]).line + b"\n"]
    path.write_bytes(b"".join(lines))
    return 3


DAMAGE = (
    "not json", "edited", "last edited", "removed", "swapped", "twice", "empty line", "carriage return", "re-sealed",
    "other run",
)


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_ledger_is_refused_by_line_and_left_as_it_is(path, how):
    write(path, *(note(str(number)) for number in range(5)))
    line = damage(path, how)
    before = path.read_bytes()
    with pytest.raises(LedgerDamaged, match=rf"r\.jsonl:{line}: ") as raised:
        LedgerWriter.open(path)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir() if "torn" in file.name] == []


def test_damage_gives_the_lock_back(path):
    write(path, note("a"))
    good = path.read_bytes()
    path.write_bytes(b"junk\n")
    with pytest.raises(LedgerDamaged):
        LedgerWriter.open(path)
    path.write_bytes(good)
    write(path, note("b"))
    assert texts(path) == ["a", "b"]


def test_a_newer_schema_is_not_appended_to(path):
    row = note("a")
    row.v = 2
    path.parent.mkdir()
    path.write_bytes(seal(row, 1, GENESIS, "2026-11-29T12:00:00.000Z").line + b"\n")
    with pytest.raises(LedgerError, match="newer version"):
        LedgerWriter.open(path)


def test_rows_of_another_run_are_refused(path):
    with LedgerWriter.open(path) as writer:
        writer.append(note("a"))
        with pytest.raises(LedgerError, match=f"holds run {RUN}, not other"):
            writer.append(note("b", run_id="other"))
    with LedgerWriter.open(path) as writer, pytest.raises(LedgerError, match="not other"):
        writer.append(note("b", run_id="other"))


def test_row_31_a_second_writer_is_refused_with_the_name_of_the_first(path):
    with LedgerWriter.open(path, run_id=RUN) as writer:
        writer.append(note("a"))
        with pytest.raises(LedgerBusy, match=f"process {os.getpid()} on .* since .* {RUN}"):
            LedgerWriter.open(path)
    write(path, note("b"))
    assert texts(path) == ["a", "b"]
    assert [file.name for file in path.parent.iterdir()] == ["r.jsonl"]


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b'{"pid":"x"}', b"\xff"])
def test_the_owner_file_is_for_the_message_only(path, content):
    lock = path.with_name("r.jsonl.lock")
    with LedgerWriter.open(path):
        lock.unlink() if content is None else lock.write_bytes(content)
        with pytest.raises(LedgerBusy, match="another process"):
            LedgerWriter.open(path)
    lock.write_bytes(b"left by a crash")
    write(path, note("a"))


def test_row_26_a_program_that_ignores_the_lock_is_noticed(path):
    with LedgerWriter.open(path) as writer:
        writer.append(note("a"))
        with open(path, "ab") as file:
            file.write(b'{"kind":"attempt","passed":true}')
        before = path.read_bytes()
        with pytest.raises(LedgerDamaged, match="changed by another program"):
            writer.append(note("b"))
        assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_rows_never_go_into_a_file_that_has_no_name(path, how):
    with LedgerWriter.open(path) as writer:
        writer.append(note("a"))
        if how == "removed":
            path.unlink()
        else:
            other = path.with_name("other")
            other.write_bytes(path.read_bytes())
            other.rename(path)
        with pytest.raises(LedgerError, match="removed or replaced"):
            writer.append(note("b"))


def test_links_folders_and_pipes_are_refused(tmp_path):
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(LedgerError, match="symbolic link"):
        LedgerWriter.open(tmp_path / "link.jsonl")
    with pytest.raises(LedgerError, match="Is a directory"):
        LedgerWriter.open(tmp_path / "folder.jsonl")
    with pytest.raises(LedgerError, match="not a file"):
        LedgerWriter.open(tmp_path / "pipe.jsonl")
    with pytest.raises(LedgerError, match="folder cannot be made"):
        LedgerWriter.open(tmp_path / "real.jsonl" / "x.jsonl")


def test_a_refused_open_leaves_no_descriptor_behind(tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(b"junk\n")
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        with pytest.raises(LedgerDamaged):
            LedgerWriter.open(tmp_path / "bad.jsonl")
        LedgerWriter.open(tmp_path / "good.jsonl").close()
    assert len(os.listdir("/dev/fd")) == before


MOUNTS = (
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
    "30 22 0:25 / /home rw - nfs4 server:/home rw,vers=4.2\n"
    "31 30 0:26 / /home/ann/my\\040disk rw - fuse.sshfs ann@host: rw\n"
    "32 22 0:27 / /data rw - nfs server:/data rw\n"
    "33 22 8:1 / /data rw master:2 propagate_from:1 - xfs /dev/sda1 rw\n"
    "34 22 0:29 / /share rw - 9p share rw\n"
    "35 22 0:30 / /win rw - cifs //server/win rw\n"
    "broken line\n"
)


@pytest.mark.parametrize(
    ("folder", "kind", "network"),
    [
        ("/var/runs", "ext4", False),
        ("/home/ann/runs", "nfs4", True),
        ("/homes/runs", "ext4", False),
        ("/home/ann/my disk/runs", "fuse.sshfs", True),
        ("/data/runs", "xfs", False),
        ("/share", "9p", True),
        ("/win/x", "cifs", True),
    ],
)
def test_the_file_system_is_that_of_the_innermost_visible_mount(folder, kind, network):
    assert type_of_mount(MOUNTS, Path(folder)) == kind
    assert is_network(kind) is network


def test_a_network_file_system_is_refused_unless_asked_for(path):
    class RemoteIO(LedgerIO):
        def file_system(self, folder):
            return "nfs4"

    with pytest.raises(LedgerError, match="network file system \\(nfs4\\)"):
        LedgerWriter.open(path, RemoteIO())
    assert not path.exists()
    with LedgerWriter.open(path, RemoteIO(), network_ok=True) as writer:
        writer.append(note("a"))
    assert texts(path) == ["a"]


def test_the_real_file_system_here_is_known_or_unknown_never_wrong(tmp_path):
    kind = LedgerIO().file_system(tmp_path)
    assert kind is None or (kind and " " not in kind)
