"""A usage file is read as if it were forged: plain counts, or null with a reason."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui_bench.engine.usage import LARGEST, Usage, read_usage

ATTEMPT = "0123456789abcdef"
GOOD = b'{"tokens_in": 100, "tokens_out": 10, "tokens_cached": 40}'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "usage.json"


def read(place: Path) -> Usage:
    return read_usage(place, ATTEMPT, time.time_ns() - 10**9)


FORGED = {
    "negative": b'{"tokens_in": -1, "tokens_out": 5}',
    "nan": b'{"tokens_in": NaN, "tokens_out": 5}',
    "infinity": b'{"tokens_in": Infinity, "tokens_out": 5}',
    "1e999": b'{"tokens_in": 1e999, "tokens_out": 5}',
    "1e999_elsewhere": b'{"tokens_in": 1, "price": 1e999}',
    "float": b'{"tokens_in": 12.0, "tokens_out": 5}',
    "true": b'{"tokens_in": true, "tokens_out": 5}',
    "string": b'{"tokens_in": "12", "tokens_out": 5}',
    "list": b'{"tokens_in": [12], "tokens_out": 5}',
    "5000_digits": b'{"tokens_in": ' + b"9" * 5_000 + b"}",
    "too_large": b'{"tokens_in": 1000000000001}',
    "duplicate_key": b'{"tokens_in": 1, "tokens_in": 2}',
    "duplicate_key_inside": b'{"tokens_in": 1, "x": {"a": 1, "a": 2}}',
    "bom": b"\xef\xbb\xbf" + GOOD,
    "not_utf8": b'{"tokens_in": 1, "x": "\xff"}',
    "utf16": GOOD.decode().encode("utf-16"),
    "empty": b"",
    "half_written": GOOD[:20],
    "trailing": GOOD + b"{}",
    "not_an_object": b"[100, 10]",
    "deep": b"[" * 60_000,
    "nul": GOOD + b"\0",
    "too_long": GOOD[:-1] + b" " * 65_536 + b"}",
    "other_attempt": b'{"tokens_in": 1, "attempt_id": "fedcba9876543210"}',
    "attempt_id_number": b'{"tokens_in": 1, "attempt_id": 1}',
    "no_counts": b'{"tokens": 5}',
    "all_null": b'{"tokens_in": null, "tokens_out": null}',
}


@pytest.mark.parametrize("content", FORGED.values(), ids=FORGED.keys())
def test_d22_a_forged_usage_file_is_null_with_a_reason_and_never_zero(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    begun = time.perf_counter()
    found = read(place)
    assert time.perf_counter() - begun < 0.5
    assert (found.tokens_in, found.tokens_out, found.tokens_cached, found.source) == (None, None, None, None)
    assert found.error is not None
    assert "\n" not in found.error
    assert len(found.error) < 200


def as_link(place: Path) -> None:
    (place.parent / "real.json").write_bytes(GOOD)
    place.symlink_to("real.json")


def as_hard_link(place: Path) -> None:
    (place.parent / "real.json").write_bytes(GOOD)
    os.link(place.parent / "real.json", place)


KINDS: dict[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "folder": Path.mkdir,
    "link": as_link,
    "link_to_zero": lambda place: place.symlink_to("/dev/zero"),
    "hard_link": as_hard_link,
    "missing": lambda place: None,
    "sparse": lambda place: os.truncate(os.open(place, os.O_CREAT | os.O_WRONLY), 10**12),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_d22_what_is_no_plain_file_is_never_read(place: Path, make: Callable[[Path], object]) -> None:
    make(place)
    found = read(place)
    assert found.error is not None
    assert (found.tokens_in, found.source) == (None, None)


def test_a_plain_file_is_used_and_its_source_named(place: Path) -> None:
    place.write_bytes(GOOD)
    assert read(place) == Usage(100, 10, 40, "agent_file")
    place.write_text(json.dumps({"tokens_in": 1, "tokens_out": 2, "attempt_id": ATTEMPT, "model": "m", "cost": 0.1}))
    assert read(place) == Usage(1, 2, None, "agent_file")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"tokens_in": 100, "tokens_out": 10}, (100, 10, None)),
        ({"tokens_in": None, "tokens_out": None, "tokens_cached": 1}, (None, None, 1)),
        ({"tokens_in": 50, "tokens_out": None}, (50, None, None)),
        ({"tokens_in": 0, "tokens_out": 0}, (0, 0, None)),
        ({"tokens_in": LARGEST}, (LARGEST, None, None)),
    ],
)
def test_b43_null_stays_null_and_zero_stays_zero(
    place: Path, content: dict[str, int | None], expected: tuple[int | None, ...]
) -> None:
    place.write_text(json.dumps(content))
    found = read(place)
    assert (found.tokens_in, found.tokens_out, found.tokens_cached) == expected
    assert found.error is None


def test_b44_the_two_ways_to_count_cached_tokens_are_told_apart_and_nothing_is_added(place: Path) -> None:
    place.write_text('{"tokens_in": 226616, "tokens_out": 1, "tokens_cached": 176640}')
    assert read(place) == Usage(226616, 1, 176640, "agent_file")
    place.write_text('{"tokens_in": 53, "tokens_out": 1, "cache_read": 2560, "cache_write": 0}')
    assert read(place) == Usage(53, 1, 2560, "agent_file, cached extra")


def test_b45_a_file_cut_off_in_the_middle_is_null_and_a_whole_one_is_used(place: Path) -> None:
    for cut in range(len(GOOD)):
        place.write_bytes(GOOD[:cut])
        assert read(place).tokens_in is None
        assert read(place).error is not None
    place.write_bytes(GOOD)
    assert read(place).tokens_in == 100


def test_x1_10_a_file_older_than_the_attempt_is_not_believed(place: Path) -> None:
    place.write_bytes(GOOD)
    assert read_usage(place, ATTEMPT, time.time_ns() + 10**9) == Usage(error="usage.json: is older than the attempt")
    started = time.time_ns()
    place.write_bytes(GOOD)
    assert read_usage(place, ATTEMPT, started).tokens_in == 100


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from(["tokens_in", "tokens_out", "tokens_cached", "x"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner), max_leaves=8
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_d22_whatever_the_file_holds_it_gives_counts_or_null_and_never_raises(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    found = read(place)
    for value in (found.tokens_in, found.tokens_out, found.tokens_cached):
        assert value is None or (type(value) is int and 0 <= value <= LARGEST)
    assert (found.source is None) == (found.error is not None)
