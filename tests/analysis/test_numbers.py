"""Numbers and names as they stand in sentences."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tui_bench.analysis.wording.numbers import cells, fit, limit_text, names_text, p_text, pad, percent, short_percent


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5555, "p = 0.56"), (0.0043, "p = 0.0043"), (0.026, "p = 0.026"), (0.1, "p = 0.10"), (1.0, "p = 1.00"),
        (0.9999, "p > 0.99"), (0.00012, "p = 0.0001"), (0.00009, "p < 0.0001"), (0.0, "p < 0.0001"),
    ],
)  # fmt: skip
def test_p_values_have_two_digits_and_are_never_zero_or_falsely_one(p: float, text: str) -> None:
    assert p_text(p) == text


def test_rates_and_limits() -> None:
    assert [limit_text(Fraction(x)) for x in ("1/10", "1/4", "1/8", "1/3", "0")] == [
        "0.10",
        "0.25",
        "0.125",
        "0.3333",
        "0.00",
    ]
    assert (percent(0.2209), short_percent(Fraction(1, 10)), short_percent(Fraction(1, 8))) == (
        "22.1 %",
        "10 %",
        "12.5 %",
    )


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("折扣", 4), ("e\u0301", 1), ("e\u0301".encode().decode(), 1), ("\u200b", 0), ("ｶ", 1), ("Ａ", 2)],
)
def test_widths_are_terminal_cells(text: str, width: int) -> None:
    assert cells(text) == width
    assert cells(pad(text, 6)) == 6


def test_cutting_keeps_a_letter_with_its_marks_and_wide_letters_whole() -> None:
    assert fit("abcdef", 6) == "abcdef"
    assert fit("abcdef", 4) == "abc…"
    assert fit("折扣规则", 6) == "折扣…"
    assert fit("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert fit("ab" + "c\u0301\u0301" * 3, 4) == "abc\u0301\u0301…"


def test_names_that_do_not_fit_are_counted() -> None:
    assert names_text(["t1", "t2", "t3"], 20) == "t1, t2, t3"
    assert names_text(["t1", "t2", "t3000"], 12) == "t1, +2 more"
    assert names_text(["x" * 50, "t2"], 20) == "x" * 10 + "…, +1 more"
    assert names_text(["x" * 50], 10) == "x" * 9 + "…"
    assert names_text([], 10) == ""
