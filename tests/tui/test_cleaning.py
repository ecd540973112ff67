"""Foreign text: whatever a program prints, nothing that could drive a terminal comes out of the cleaning."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_bench.cleaning import LINE_LIMIT, PLAIN, Look, clean, stretches
from tui_bench.tui import safe

EVERYTHING_BAD = (
    b"\x1b]52;c;aGVsbG8=\x07\x1b]0;title\x07\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\"
    b"\x1bP1$r0m\x1b\\\x1b[6n\x1b[2J\x1b[?1049h\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bc"
    b"\xc2\x9b31m\xc2\x9d0;t\xc2\x9c\xe2\x80\xae abc \xe2\x81\xa6 \xe2\x80\x8b"
)
"""Clipboard, title, link, DCS, device status, clear, other screen, APC, PM, reset; C1 forms; bidi and zero width."""


def forbidden(text: str) -> list[str]:
    """Characters that must never reach a terminal."""
    return [character for character in text if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@given(st.binary(max_size=400))
def test_random_bytes_come_out_without_control_characters(raw: bytes) -> None:
    assert forbidden(clean(raw)) == []


pieces = st.sampled_from(
    ["\x1b", "[", "]", "P", "\\", "\x07", "\x9b", "\x9c", "\x9d", "m", ";", "31", "38;2;1;2;3", "x", "\t", "\r", "\n"]
)


@given(st.lists(pieces | st.characters(), max_size=60).map("".join))
def test_random_escape_soup_comes_out_without_control_characters(raw: str) -> None:
    assert forbidden(clean(raw)) == []
    assert safe.line(raw).plain == clean(raw) == safe.text(raw)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"], exclude_characters="\ufe0e\ufe0f"), max_size=50))
def test_ordinary_text_stays_as_it_is(raw: str) -> None:
    shown = clean(raw)
    assert shown == raw or any(character in raw for character in "\u115f\u1160\u3164\uffa0")


def test_b66_every_sequence_that_drives_a_terminal_is_dropped_or_shown() -> None:
    shown = clean(EVERYTHING_BAD)
    assert forbidden(shown) == []
    assert "aGVsbG8" not in shown, "a complete clipboard sequence is dropped with its contents"
    assert "link" in shown
    assert "‹U+202E›" in shown
    assert "‹U+200B›" in shown
    assert "‹U+009B›31m" in shown


def test_an_unfinished_sequence_stays_visible_and_hides_nothing() -> None:
    assert clean(b"\x1b]0;never ended, then the truth") == "␛]0;never ended, then the truth"
    assert clean(b"ends in escape \x1b") == "ends in escape ␛"


@pytest.mark.parametrize("code", [*range(0x20), 0x7F])
def test_each_c0_code_is_shown_as_its_picture_or_expanded(code: int) -> None:
    shown = clean(f"a{chr(code)}é")
    if code == 0x09:
        assert shown == "a       é"
    else:
        assert shown == f"a{chr(0x2421 if code == 0x7F else 0x2400 + code)}é"


def test_d23_every_format_and_surrogate_character_is_shown_by_its_number() -> None:
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in ("Cf", "Cs", "Zl", "Zp"):
            assert clean(f"a{chr(code)}b") == f"a‹U+{code:04X}›b"


def test_colours_are_kept_and_end_where_the_author_ends_them() -> None:
    shown = stretches(b"plain \x1b[1;31mred\x1b[0m \x1b[38;5;208mpalette\x1b[39m \x1b[48;2;1;2;3mground")
    assert [part.text for part in shown] == ["plain ", "red", " ", "palette", " ", "ground"]
    assert shown[1].look == Look(foreground=1, bold=True)
    assert shown[3].look == Look(foreground=(255, 135, 0))
    assert shown[4].look == PLAIN
    assert shown[5].look == Look(background=(1, 2, 3))


def test_text_cannot_be_hidden_by_conceal_or_by_its_own_colour() -> None:
    assert stretches("\x1b[8mhidden")[0].look == PLAIN
    assert stretches("\x1b[30;40mblack on black")[0].look == Look(foreground=0)


@pytest.mark.parametrize("parameters", ["38", "38;5", "38;5;999", "38;2;1;2", "99999999999", ";;;", "4:3", "38;9;1"])
def test_odd_colour_parameters_do_no_harm(parameters: str) -> None:
    assert clean(f"\x1b[{parameters}mtext") == "text"


def test_line_ends_of_the_line_are_no_part_of_it_and_others_are_shown() -> None:
    assert clean(b"text\r\n") == "text"
    assert clean("10%\r20%") == "10%␍20%"
    assert clean("two\nlines") == "two␊lines"


def test_tabs_stop_every_eight_columns_also_after_wide_characters() -> None:
    assert clean("折扣\tx") == "折扣    x"
    assert clean("\x1b[31mab\x1b[0m\tx") == "ab      x"


def test_bytes_that_are_not_utf8_become_replacement_marks() -> None:
    assert clean(b"a\xff\xfeb") == "a\ufffd\ufffdb"


def test_a_long_line_is_cut_before_it_is_cleaned_and_says_so() -> None:
    assert clean("x" * (LINE_LIMIT + 1)) == "x" * LINE_LIMIT + "…"
    assert clean(b"x" * LINE_LIMIT) == "x" * LINE_LIMIT
    assert clean("折".encode() * 10, limit=4) == "折折折折…"


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[1", "\x1b[", "\x9d", "\x1bP", "\x1b[1;31m", "\u202e"])
def test_time_grows_no_faster_than_length(unit: str) -> None:
    def seconds(count: int) -> float:
        text = unit * count
        started = time.perf_counter()
        clean(text, limit=len(text))
        return time.perf_counter() - started

    seconds(1000)
    short = min(seconds(4000) for _ in range(3))
    long = min(seconds(32_000) for _ in range(3))
    assert long < 8 * short * 4, "8 times the text, with room for noise; quadratic would be 64 times"


def test_b65_markup_is_text() -> None:
    for raw in (
        "see [/usr/bin/tool]",
        "[1, 2]",
        "[bold]",
        "[A=1]",
        "[@click=app.quit]x[/]",
        "[link=https://x]a[/link]",
    ):
        content = safe.line(raw)
        assert content.plain == raw
        assert content.spans == []
