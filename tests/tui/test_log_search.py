"""Search in texts of any size: what a person sees is what is found, in both directions, round the end."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tui_bench.tui.log_file import LINE_CAP, Lines, LogFile, MemoryText
from tui_bench.tui.log_search import OVERLAP, PIECE, Hit, search, wanted
from tui_bench.tui.log_window import Shape, window

GOING = threading.Event()


def find(lines: Lines, text: str, start: int = 0, *, forward: bool = True) -> Hit | None:
    return search(lines, wanted(text), start, forward=forward, stop=GOING)


def test_matches_come_one_after_the_other_and_go_round() -> None:
    text = MemoryText(b"one fail\ntwo\nthree fail\nfail\n")
    at, seen = 0, []
    for _ in range(4):
        hit = find(text, "fail", at)
        assert hit is not None
        seen.append((hit.place.offset, hit.column, hit.number, hit.total, hit.round))
        at = hit.offset + 1
    assert seen == [(0, 4, 1, 3, False), (13, 6, 2, 3, False), (24, 0, 3, 3, False), (0, 4, 1, 3, True)]


def test_backwards_from_the_middle_and_round_the_start() -> None:
    text = MemoryText(b"fail a\nb\nfail c\n")
    first = find(text, "fail", 9, forward=False)
    assert first is not None and (first.offset, first.round) == (0, False)
    last = find(text, "fail", 0, forward=False)
    assert last is not None and (last.offset, last.round) == (9, True)


def test_capitals_matter_only_when_the_search_has_some() -> None:
    text = MemoryText(b"Failed\nfailed\n")
    assert [find(text, "failed").offset, find(text, "Failed").offset, find(text, "FAILED")] == [0, 0, None]  # type: ignore[union-attr]


def test_colours_inside_a_word_do_not_hide_it() -> None:
    text = MemoryText(b"x \x1b[1;31mFAI\x1b[0mLED\x1b[0m (failures=1)\n")
    hit = find(text, "FAILED (failures")
    assert hit is not None and hit.column == 2


def test_b65_what_is_typed_is_text_and_no_pattern() -> None:
    text = MemoryText(b"see [/usr/bin/tool] (a+)\n")
    assert find(text, "[/usr") is not None and find(text, "(a+)") is not None
    assert find(text, "(b") is None and find(text, ".*") is None


def test_nothing_is_found_in_nothing(tmp_path: Path) -> None:
    assert find(LogFile(tmp_path / "none"), "a") is None
    assert find(MemoryText(b""), "a") is None


@pytest.mark.parametrize("forward", [True, False])
def test_a_match_across_two_pieces_is_found(tmp_path: Path, forward: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"." * (PIECE - 3) + b"needle" + b"." * PIECE)
    hit = find(LogFile(path), "needle", 0 if forward else 2 * PIECE, forward=forward)
    assert hit is not None and hit.offset == PIECE - 3
    assert OVERLAP < LINE_CAP + 1


def test_b68_a_large_log_is_searched_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "log"
    line = b"a line of a talkative program, number %08d\n"
    with path.open("wb") as handle:
        for start in range(0, 1_500_000, 50_000):
            handle.write(b"".join(line % number for number in range(start, start + 50_000)))
    began = time.monotonic()
    hit = find(LogFile(path), "number 01499990")
    assert hit is not None and hit.total is None
    assert time.monotonic() - began < 5
    shown = window(LogFile(path), hit.place, 0, Shape(80, 5, False, find=wanted("number 01499990").shown))
    assert shown.rows[0].plain.startswith("a line") and shown.rows[0].spans


def test_a_search_that_is_given_up_ends(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 4 * PIECE)
    stop = threading.Event()
    stop.set()
    assert search(LogFile(path), wanted("y"), 0, forward=True, stop=stop) is None


def test_a_text_in_memory_reads_like_a_file(tmp_path: Path) -> None:
    raw = b"one\n\nthree\nfour"
    (tmp_path / "f").write_bytes(raw)
    memory, file = MemoryText(raw), LogFile(tmp_path / "f")
    for count in range(6):
        assert memory.after(0, count) == file.after(0, count)
        assert memory.before(len(raw), count) == file.before(len(raw), count)
    assert memory.after(5, 9) == file.after(5, 9)
    assert memory.chunk(3, 4) == file.chunk(3, 4) == raw[3:7]


def test_a_diff_gets_its_colours_and_a_match_is_marked() -> None:
    text = MemoryText(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n")
    rows = window(text, None, 0, Shape(40, 10, False, find=wanted("new").shown, diff=True)).rows
    styles = [[str(span.style) for span in row.spans] for row in rows]
    assert styles == [
        ["bold"], ["bold"], ["bold"], ["$bench-running"], ["$bench-fail"], ["$bench-pass", "reverse"], []
    ]  # fmt: skip
