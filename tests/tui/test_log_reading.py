"""Logs by byte offset: the same lines forwards and backwards, whatever they hold, and no more read than is shown."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui_bench.tui.log_file import LINE_CAP, LogFile, LogLine
from tui_bench.tui.log_window import EMPTY, Place, Shape, window

contents = st.lists(
    st.binary(max_size=30) | st.just(b"\n") | st.just(b"x" * 5000) | st.just("折".encode() * 2000), max_size=12
).map(b"".join)


def forwards(log: LogFile, size: int) -> list[LogLine]:
    lines: list[LogLine] = []
    while not lines or lines[-1].end < size:
        lines += log.after(lines[-1].end if lines else 0, 3)
    return lines


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(contents)
def test_lines_in_both_directions_cover_the_file_without_gap_or_overlap(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    log = LogFile(path)
    if not content:
        assert log.after(0, 5) == log.before(0, 5) == []
        return
    for lines in (forwards(log, len(content)), log.before(len(content), 10_000)):
        assert lines[0].start == 0
        assert lines[-1].end == len(content)
        assert all(one.end == two.start for one, two in pairwise(lines))
        assert all(0 < line.end - line.start <= LINE_CAP + 4 for line in lines)
        assert all(b"\n" not in line.raw for line in lines)


def test_short_lines_are_what_splitlines_says(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\r\n\nfour\nlast without end")
    found = [line.raw for line in LogFile(path).before(path.stat().st_size, 99)]
    assert found == [b"one", b"two", b"", b"four", b"last without end"]
    assert [line.raw for line in LogFile(path).before(path.stat().st_size, 2)] == [b"four", b"last without end"]


def test_a_wide_character_is_not_broken_where_a_long_line_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" + "折".encode() * 5000)
    log = LogFile(path)
    for lines in (log.before(path.stat().st_size, 99), forwards(log, path.stat().st_size)):
        assert len(lines) > 2
        for line in lines:
            line.raw.decode("utf-8")


def test_a_gigabyte_log_opens_at_its_end_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as handle:
        handle.truncate(1 << 30)
        handle.seek(0, os.SEEK_END)
        handle.write(b"\nthe end\n")
    started = time.perf_counter()
    shown = window(LogFile(path), None, 0, Shape(80, 10, False))
    took = time.perf_counter() - started
    assert shown.rows[-1].plain == "the end"
    assert took < 0.2


@pytest.mark.parametrize("kind", ["fifo", "folder", "absent", "device"])
def test_what_is_no_file_reads_as_nothing_and_never_waits(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    log = LogFile(path)
    assert log.status() is None
    assert log.after(0, 5) == []
    assert log.before(100, 5) == []
    assert window(log, None, 0, Shape(80, 24, True)) == EMPTY


def rows(path: Path, place: Place | None, shift: int, height: int = 4, wrap: bool = False, left: int = 0) -> list[str]:
    return [row.plain for row in window(LogFile(path), place, shift, Shape(10, height, wrap, left)).rows]


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(20)), "utf-8")
    return path


def test_the_window_starts_where_it_is_told_and_stops_at_both_ends(numbered: Path) -> None:
    assert rows(numbered, None, 0) == ["line 16", "line 17", "line 18", "line 19"]
    assert rows(numbered, None, -2) == ["line 14", "line 15", "line 16", "line 17"]
    assert rows(numbered, Place(0), 0) == ["line 0", "line 1", "line 2", "line 3"]
    assert rows(numbered, Place(0), 3) == ["line 3", "line 4", "line 5", "line 6"]
    assert rows(numbered, Place(0), -5) == ["line 0", "line 1", "line 2", "line 3"]
    assert rows(numbered, Place(0), 500) == ["line 16", "line 17", "line 18", "line 19"]
    assert rows(numbered, Place(10**9), 0) == ["line 0", "line 1", "line 2", "line 3"], "the file was cut meanwhile"


def test_a_short_log_fills_from_the_top(numbered: Path) -> None:
    numbered.write_text("only\n", "utf-8")
    assert rows(numbered, None, 0) == ["only"]
    assert rows(numbered, None, -3) == ["only"]


def test_wrapped_rows_lose_nothing_and_scroll_by_the_row(tmp_path: Path) -> None:
    path = tmp_path / "log"
    accented = "e\u0301" * 25
    path.write_text(f"abcdefghijklmnopqrstuvwxyz\n{accented}\n折扣规则折扣规则\n", "utf-8")
    everything = rows(path, Place(0), 0, height=50, wrap=True)
    assert everything[:3] == ["abcdefghij", "klmnopqrst", "uvwxyz"]
    assert "".join(everything[3:6]) == accented
    assert everything[6:] == ["折扣规则折", "扣规则"]
    assert all(cell_len(row) <= 10 for row in everything)
    for start in range(len(everything) - 2):
        assert rows(path, Place(0), start, height=2, wrap=True) == everything[start : start + 2]
    for up in range(1, len(everything) - 2):
        assert rows(path, None, -up, height=2, wrap=True) == everything[-2 - up : -up]


def test_a_line_scrolled_sideways_shows_what_lies_there(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789abcdefghijklmnop\n\x1b[31m" + "折".encode() * 10 + b"\n")
    assert rows(path, Place(0), 0) == ["012345678…", "折折折折 …"]
    assert rows(path, Place(0), 0, left=16) == ["ghijklmnop", "折折"]
