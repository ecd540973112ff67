"""The banner on a screen of any size: every verdict is there, details only where there is room, nothing said twice."""

from __future__ import annotations

import pytest

from tui_bench.tui.widgets.banner import chosen, without_twins

LINES = (
    "WINNER strong  strong 6 : weak 0 of 12 pairs",
    "agent strong: GATE OPEN   1 of 12 tasks flipped",
    "  same box 0.00, across 0.08",
    "  weak: 1/12 fits a true rate",
    "agent weak: GATE OPEN   0 of 12 tasks flipped",
    "  weak: flip rate below 22.1 %",
)


@pytest.mark.parametrize(
    ("most", "kept"),
    [(3, [0, 1, 4]), (4, [0, 1, 2, 4]), (6, [0, 1, 2, 3, 4, 5]), (99, [0, 1, 2, 3, 4, 5]), (2, [0, 1])],
)
def test_verdicts_come_before_details(most: int, kept: list[int]) -> None:
    assert chosen(LINES, most) == tuple(LINES[number] for number in kept)


def test_a_cut_line_and_its_whole_text_are_said_once() -> None:
    lines = (
        "GATE ...  12 of 12 pairs, 24 attempts of oth…",
        "  GATE ...  12 of 12 pairs, 24 attempts of other rounds left",
        "  next",
    )
    assert without_twins(lines, 100) == ("GATE ...  12 of 12 pairs, 24 attempts of other rounds left", "  next")
    assert without_twins(lines, 50) == (lines[0], "  next")
    assert without_twins(LINES, 30) == LINES
