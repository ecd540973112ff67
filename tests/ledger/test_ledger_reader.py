"""Reading: every line is a row or a named fault, and nothing in a file can raise."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_samples import attempt, note, texts, write

from tui_bench.errors import LedgerDamaged, LedgerError
from tui_bench.ledger.lines import Fault, Splitter, parse
from tui_bench.ledger.reader import read_at, scan
from tui_bench.ledger.rows import ROW_LIMIT

EVENT = '{"kind":"event","run_id":"r","event":"note","reason":null,"detail":%s}'


def event(detail: str) -> bytes:
    return (EVENT % detail).encode()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "empty"),
        (b"  ", "empty"),
        (b"\0\0\0\0", "not_json"),
        (b'{"task":"t02","pas', "not_json"),
        (event("{}") + event("{}"), "not_json"),
        (b"\xef\xbb\xbf" + event("{}"), "bom"),
        (event('{"a":"caf%s"}').replace(b"%s", b"\xe9"), "not_utf8"),
        (event('{"a":1,"a":2}'), "duplicate_key"),
        (event("{}").replace(b'"run_id"', b'"kind":"event","run_id"'), "duplicate_key"),
        (event('{"a":NaN}'), "not_finite"),
        (event('{"a":-Infinity}'), "not_finite"),
        (event('{"a":1e999}'), "not_finite"),
        (event('{"a":"\\ud800"}'), "bad_text"),
        (event('{"\\udfff":1}'), "bad_text"),
        (event('{"a":%s}' % ("[" * 20_000 + "]" * 20_000)), "too_deep"),
        (event('{"a":%s}' % ("9" * 5_000)), "out_of_range"),
        (event('{"a":%s}' % ("9" * 5_000)).replace(b"note", b"nope"), "out_of_range"),
        (b'{"kind":"sparkle","run_id":"r"}', "unknown_kind"),
        (b'{"kind":7,"run_id":"r"}', "not_a_row"),
        (b'{"run_id":"r"}', "not_a_row"),
        (b"[1,2]", "not_a_row"),
        (b"null", "not_a_row"),
        (b'{"kind":"event","run_id":"r"}', "not_a_row"),
        (b'{"kind":"event","run_id":"r","event":"party"}', "not_a_row"),
        (b'{"kind":"event","run_id":"r","event":"note","number":true}', "not_a_row"),
        (event('{"a":"%s"}' % ("x" * ROW_LIMIT)), "too_long"),
    ],
)
def test_a_bad_line_is_named_by_number_and_the_lines_around_it_are_read(tmp_path, line, kind):
    path = tmp_path / "l.jsonl"
    good = event('{"n":1}')
    path.write_bytes(good + b"\n" + line + b"\n" + good + b"\n")
    first, bad, last = scan(path)
    assert first.row is not None and last.row is not None
    assert (bad.number, bad.offset, bad.length) == (2, len(good) + 1, len(line))
    assert bad.row is None and bad.fault.kind == kind
    assert bad.fault.message and "\n" not in bad.fault.message and bad.fault.message.isprintable()


def test_an_unknown_kind_keeps_its_name_so_that_it_can_be_counted():
    fault = parse(b'{"kind":"sparkle","run_id":"r"}')
    assert isinstance(fault, Fault) and fault.name == "sparkle"


def test_what_a_line_quotes_cannot_drive_a_terminal():
    fault = parse('{"kind":"event","run_id":"r","event":"\\u001b]52;c;\\u0007\u202e"}'.encode())
    assert isinstance(fault, Fault) and fault.message.isprintable()


def test_unknown_fields_blanks_and_key_order_are_read():
    row = parse(b'{ "new_field": {"a": [1]}, "run_id": "r", "kind": "event", "event": "note", "reason": "x" }')
    assert not isinstance(row, Fault) and row.reason == "x"


def test_b18_a_half_written_row_is_no_error_and_no_row(tmp_path):
    path = tmp_path / "l.jsonl"
    write(path, note("a"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    lines = scan(path)
    assert [line.row.reason for line in lines] == ["a"]
    assert (lines.unfinished, lines.end) == (40, len(whole))


def test_a_complete_row_without_its_newline_is_not_there_yet(tmp_path):
    path = tmp_path / "l.jsonl"
    write(path, note("a"), note("b"))
    path.write_bytes(path.read_bytes()[:-1])
    assert texts(path) == ["a"]


def test_a_row_is_found_again_by_its_offset(tmp_path):
    path = tmp_path / "l.jsonl"
    write(path, *(note(str(number)) for number in range(5)))
    for line in scan(path):
        assert read_at(path, line.offset) == line.row
    with pytest.raises(LedgerDamaged, match="at byte 3"):
        read_at(path, 3)
    with pytest.raises(LedgerDamaged):
        read_at(path, 10**6)


def test_a_missing_or_unreadable_ledger_is_one_line(tmp_path):
    with pytest.raises(LedgerError, match="no such ledger") as raised:
        list(scan(tmp_path / "none.jsonl"))
    assert "\n" not in str(raised.value)
    with pytest.raises(LedgerError, match="not a file"):
        list(scan(tmp_path))
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(LedgerError, match="not a file"):
        list(scan(tmp_path / "pipe.jsonl"))


def test_an_empty_ledger_has_no_lines(tmp_path):
    (tmp_path / "l.jsonl").touch()
    assert list(scan(tmp_path / "l.jsonl")) == []


@given(st.binary(max_size=300))
def test_no_bytes_raise(data):
    assert isinstance(parse(data.replace(b"\n", b"")), Fault)


@given(
    st.dictionaries(
        st.sampled_from(["kind", "run_id", "event", "detail", "seq", "attempt", "zzz"]),
        st.sampled_from(["event", "note", "attempt", 1, -1, 2**70, None, True, [], {}, 1.5, "\ud800"]),
    ),
    st.integers(0, 200),
    st.binary(max_size=3),
)
def test_no_almost_row_raises(members, at, junk):
    data = json.dumps(members).encode()
    parse(data)
    parse(data[:at] + junk + data[at:])


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8), st.integers(1, 50))
def test_lines_do_not_depend_on_where_chunks_are_cut(lengths, size):
    stream = b"".join(b"x" * length + b"\n" for length in lengths) + b"rest"
    splitter = Splitter()
    found = []
    for start in range(0, len(stream), size):
        found += splitter.feed(stream[start : start + size])
    assert [line.length for line in found] == lengths
    assert [line.number for line in found] == list(range(1, len(lengths) + 1))
    assert all(stream[line.offset : line.offset + line.length] == line.data for line in found)
    assert (splitter.held, splitter.offset) == (4, len(stream) - 4)


def test_a_line_of_200_mb_is_one_fault_in_little_memory(tmp_path):
    """In a process of its own, so that its peak is its own."""
    path = tmp_path / "l.jsonl"
    good = event("{}") + b"\n"
    with open(path, "wb") as file:
        file.write(good)
        file.seek(200_000_000)
        file.write(b"\n" + good)
    program = (
        "import resource, sys\n"
        "from tui_bench.ledger.reader import scan\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "kinds = [line.fault.kind if line.fault else 'row' for line in scan(sys.argv[1])]\n"
        "print(*kinds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert out[:-1] == ["row", "too_long", "row"]
    assert int(out[-1]) < 20_000 * (1024 if sys.platform == "darwin" else 1)


def test_a_written_attempt_reads_back_equal(tmp_path):
    rows = write(tmp_path / "l.jsonl", attempt(0), attempt(1, passed=None, void="infra", void_causes=["infra"]))
    assert [line.row for line in scan(tmp_path / "l.jsonl")] == rows
