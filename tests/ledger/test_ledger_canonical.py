"""Rows as bytes: canonical form, digests, and what is refused before anything is written."""

import hashlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_samples import RUN, attempt, note

from tui_bench.errors import LedgerDamaged, LedgerError
from tui_bench.ledger.canonical import digest_of, encode, seal, settle, verify
from tui_bench.ledger.lines import parse
from tui_bench.ledger.rows import GENESIS, ROW_LIMIT, EnvRow, EventRow, TaskRow

AT = "2026-11-29T12:00:00.000Z"


def digest_by_the_book(line: bytes) -> str:
    """The published definition, by way of the standard library."""
    members = json.loads(line)
    members.pop("sha")
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_line_is_sorted_compact_json_in_utf8():
    line = encode(note("Prüfung\n☃"))
    members = json.loads(line)
    assert list(members) == sorted(members)
    assert "Prüfung\\n☃".encode() in line
    assert b", " not in line and b": " not in line and b"\n" not in line
    assert {"v", "kind", "run_id", "seq", "at", "task", "env", "attempt", "prev", "sha"} <= set(members)


def test_seal_gives_the_digest_that_anyone_can_recompute():
    line, sha, row = seal(attempt(3), 7, "cd" * 32, AT)
    assert digest_by_the_book(line) == sha == digest_of(line) == row.sha
    assert (row.seq, row.prev, row.at) == (7, "cd" * 32, AT)
    assert parse(line) == row
    assert verify(line, sha)
    assert not verify(line.replace(b'"wall_ms":1200', b'"wall_ms":1201'), sha)


def test_seal_leaves_the_given_row_alone():
    row = note("a")
    seal(row, 5, "cd" * 32, AT)
    assert (row.seq, row.prev, row.sha) == (0, GENESIS, "")


@pytest.mark.parametrize("where", ["variables", "volatile", "facts"])
@pytest.mark.parametrize("value", ["x", "ab" * 32])
def test_a_variable_named_sha_does_not_confuse_the_digest(where, value):
    maps = {"facts": {}, "volatile": {}, "variables": {}} | {where: {"a": "1", "sha": value, "seq": "1"}}
    row = EnvRow(run_id=RUN, env="utc", env_kind="local", env_sha=None, capabilities={}, **maps)
    line, sha, _ = seal(row, 1, GENESIS, AT)
    assert json.loads(line)["sha"] == sha == digest_by_the_book(line) == digest_of(line)


def test_b05_a_file_name_that_is_not_utf8_is_written_escaped():
    name = os.fsdecode(b"caf\xe9")
    settled, line = settle(attempt(dropped=[name, "half \ud83d pair"], verify_stdout_tail=name))
    assert settled.dropped == ["caf\\xe9", "half \\ud83d pair"]
    assert parse(line) == settled


def test_b05_a_surrogate_as_a_key_is_escaped_too():
    settled, _ = settle(EventRow(run_id=RUN, event="note", detail={"k\udcff": ["v\udc80"]}))
    assert settled.detail == {"k\\xff": ["v\\x80"]}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_know_are_refused_by_name(number):
    with pytest.raises(LedgerError, match="host_load is not a finite number"):
        encode(attempt(host_load=number))
    with pytest.raises(LedgerError, match=r"detail\.a\[1\] is not"):
        encode(EventRow(run_id=RUN, event="note", detail={"a": [1, number]}))


def test_a_row_above_64_kb_names_the_field_to_shorten():
    with pytest.raises(LedgerError, match="shorten verify_stdout_tail") as raised:
        encode(attempt(verify_stdout_tail="x" * ROW_LIMIT))
    assert "\n" not in str(raised.value)


def test_the_limit_is_on_the_line_as_written():
    spare = ROW_LIMIT - len(seal(note(""), 1, GENESIS, AT).line)
    text = "x" * (spare + 2)  # the empty text was written as two quotes already
    assert len(seal(note(text[:-2]), 1, GENESIS, AT).line) == ROW_LIMIT
    with pytest.raises(LedgerError):
        seal(note(text), 1, GENESIS, AT)


def test_a_value_of_the_wrong_type_is_refused_before_it_is_written():
    with pytest.raises(LedgerError, match="wall_ms"):
        encode(attempt(wall_ms="1200"))
    with pytest.raises(LedgerError, match="cannot be written as JSON"):
        encode(EventRow(run_id=RUN, event="note", detail={"a": object()}))
    with pytest.raises(LedgerError, match="cannot be written as JSON"):
        encode(EventRow(run_id=RUN, event="note", detail={1: "a"}))


def test_what_json_changes_comes_back_as_it_will_be_read():
    settled, line = settle(EventRow(run_id=RUN, event="note", detail={"pair": (1, 2)}))
    assert settled.detail == {"pair": [1, 2]}
    assert encode(settled) == line


def test_a_digest_of_what_is_no_row_is_an_error_of_ours():
    for data in (b"", b"[]", b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(LedgerDamaged):
            digest_of(data)
        assert not verify(data, DIGEST_OF_NOTHING)


DIGEST_OF_NOTHING = hashlib.sha256(b"").hexdigest()

any_text = st.text(st.characters(exclude_categories=()), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=12,
)


@given(detail=st.dictionaries(any_text | st.just("sha"), json_values, max_size=4))
def test_any_detail_is_sealed_readable_and_verifiable(detail):
    line, sha, row = seal(EventRow(run_id=RUN, event="note", detail=detail), 4, GENESIS, AT)
    assert parse(line) == row
    assert verify(line, sha) and row.sha == sha
    assert digest_by_the_book(line) == sha


@given(any_text)
def test_any_task_id_survives(text):
    row = TaskRow(
        run_id=RUN, task=text, task_sha="", oracle_sha=None, prompt_sha=None, verify_cmd=text, verify_timeout_s=30,
        reference=True,
    )
    line, sha, settled = seal(row, 1, GENESIS, AT)
    assert verify(line, sha) and parse(line) == settled
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert settled.task == text
