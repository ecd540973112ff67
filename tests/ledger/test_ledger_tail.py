"""Following a ledger: complete rows only, in bounded steps, and a restart when the file is another."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_samples import attempt, note, write

from tui_bench.ledger.canonical import seal
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import GENESIS, ROW_LIMIT
from tui_bench.ledger.tail import Tail
from tui_bench.ledger.writer import LedgerWriter


def notes(lines) -> list[str]:
    return [line.row.reason for line in lines]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "l.jsonl"


@pytest.fixture
def tail(path):
    follower = Tail(path)
    yield follower
    follower.close()


def test_rows_are_given_once_as_they_come(path, tail):
    with LedgerWriter.open(path) as writer:
        assert tail.poll() == [] and tail.state == "reading"
        writer.append(note("a"))
        writer.append(note("b"))
        first = tail.poll()
        assert notes(first) == ["a", "b"] and tail.poll() == []
        writer.append(note("c"))
        second = tail.poll()
    assert first + second == list(scan(path))
    assert not tail.reset


def test_b18_a_row_in_two_halves_is_given_when_it_is_complete(path, tail):
    write(path, note("a"), note("b"))
    whole = path.read_bytes()
    half = whole.index(b"\n") + 50
    path.write_bytes(whole[:half])
    assert notes(tail.poll()) == ["a"]
    assert tail.poll() == [] and tail.unfinished == 49 and not tail.reset
    with open(path, "ab") as file:
        file.write(whole[half:])
    assert notes(tail.poll()) == ["b"] and not tail.reset


def test_a_missing_ledger_is_waited_for(path, tail):
    assert tail.poll() == [] and tail.state == "missing" and not tail.reset
    write(path, note("a"))
    assert notes(tail.poll()) == ["a"] and tail.state == "reading" and not tail.reset


def test_a_removed_ledger_is_missing_and_a_new_one_begins_again(path, tail):
    write(path, note("a"))
    tail.poll()
    path.unlink()
    assert tail.poll() == [] and tail.state == "missing" and tail.reset
    assert tail.poll() == [] and not tail.reset
    write(path, note("b"))
    assert notes(tail.poll()) == ["b"]


def test_a_replaced_ledger_begins_again(path, tail, tmp_path):
    write(path, note("a"))
    tail.poll()
    write(tmp_path / "other.jsonl", note("x"), note("y"))
    (tmp_path / "other.jsonl").rename(path)
    assert notes(tail.poll()) == ["x", "y"] and tail.reset
    assert tail.poll() == [] and not tail.reset


def test_a_shrunken_ledger_begins_again(path, tail):
    write(path, note("a"), note("b"))
    tail.poll()
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"\n") + 1])
    assert notes(tail.poll()) == ["a"] and tail.reset


def test_a_ledger_written_over_with_a_longer_one_begins_again(path, tail, tmp_path):
    write(path, note("a"))
    tail.poll()
    write(tmp_path / "other.jsonl", note("a"), note("b"), note("c"))
    data = (tmp_path / "other.jsonl").read_bytes().replace(b'"task":null', b'"task":"tt"')
    with open(path, "r+b") as file:
        file.write(data)
    assert notes(tail.poll()) == ["a", "b", "c"] and tail.reset


def test_a_folder_or_pipe_is_unreadable_and_says_why(path, tail):
    path.mkdir()
    assert tail.poll() == [] and tail.state == "unreadable" and tail.reason
    path.rmdir()
    os.mkfifo(path)
    assert tail.poll() == [] and tail.state == "unreadable"
    path.unlink()
    write(path, note("a"))
    assert notes(tail.poll()) == ["a"] and tail.state == "reading" and tail.reason is None


def test_a_bad_line_is_given_with_its_fault_and_the_next_row_after_it(path, tail):
    write(path, note("a"))
    data = path.read_bytes()
    path.write_bytes(data + b"junk\n" + data)
    found = tail.poll()
    assert [line.fault and line.fault.kind for line in found] == [None, "not_json", None]
    assert [line.number for line in found] == [1, 2, 3]


def test_a_poll_reads_no_more_than_its_limit(path):
    write(path, *(attempt(number) for number in range(40)))
    tail = Tail(path, limit=5_000)
    found, polls = tail.poll(), 1
    assert tail.more and 0 < len(found) < 10
    while tail.more:
        found += tail.poll()
        polls += 1
    assert found == list(scan(path)) and polls == -(-path.stat().st_size // 5_000)
    tail.close()


def test_a_line_longer_than_any_row_is_one_fault_over_many_polls(path):
    with open(path, "wb") as file:
        file.write(b"x" * (3 * ROW_LIMIT) + b"\n" + seal(note("a"), 1, GENESIS, "").line + b"\n")
    tail = Tail(path, limit=10_000)
    found = tail.poll()
    while tail.more:
        found += tail.poll()
    assert [line.fault and line.fault.kind for line in found] == ["too_long", None]
    assert found[0].length == 3 * ROW_LIMIT
    tail.close()


def test_nothing_is_read_while_nothing_changes(path, tail, monkeypatch):
    write(path, note("a"))
    tail.poll()
    monkeypatch.setattr(os, "pread", None)
    monkeypatch.setattr(os, "open", None)
    assert tail.poll() == []


def test_a_closed_tail_holds_no_descriptor_and_can_begin_again(path):
    write(path, note("a"))
    before = len(os.listdir("/dev/fd"))
    tail = Tail(path)
    tail.poll()
    tail.close()
    assert len(os.listdir("/dev/fd")) == before
    assert notes(tail.poll()) == ["a"] and tail.reset
    tail.close()


@given(st.lists(st.integers(1, 900), max_size=30), st.integers(20, 2000))
def test_what_is_followed_in_pieces_equals_what_is_scanned_at_once(tmp_path_factory, steps, limit):
    folder = tmp_path_factory.mktemp("tail")
    write(folder / "whole.jsonl", *(note("n" * number) for number in range(12)))
    whole = (folder / "whole.jsonl").read_bytes()
    path = folder / "grows.jsonl"
    tail, found, at = Tail(path, limit), [], 0
    for step in [*steps, len(whole)]:
        with open(path, "ab") as file:
            file.write(whole[at : at + step])
        at += step
        found += tail.poll()
        while tail.more:
            found += tail.poll()
        assert not tail.reset
    assert found == list(scan(folder / "whole.jsonl"))
    tail.close()
