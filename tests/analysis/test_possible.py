"""The set of verdicts still possible equals what every completion of the run can bring."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tui_bench.analysis.stats.possible import Possible, verdicts_possible

LIMITS = (Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1))


def by_enumeration(
    scored: int, flips: int, void: int, planned: int, min_pairs: int, limit: Fraction
) -> frozenset[Possible]:
    """Each pair left agrees, flips or goes void; only the counts of each matter."""
    left = planned - void - scored
    found: set[Possible] = set()
    for lost in range(left + 1):
        for flipped in range(left - lost + 1):
            pairs = scored + left - lost
            if pairs < max(min_pairs, 1):
                found.add("no_verdict")
            elif Fraction(flips + flipped, pairs) <= limit:
                found.add("open")
            else:
                found.add("shut")
    return frozenset(found)


@pytest.mark.parametrize("planned", range(9))
def test_every_state_of_up_to_eight_pairs(planned: int) -> None:
    checked = 0
    for void in range(planned + 1):
        for scored in range(planned - void + 1):
            for flips in range(scored + 1):
                for least in range(planned + 2):
                    for limit in LIMITS:
                        case = (scored, flips, void, planned, least, limit)
                        assert verdicts_possible(*case) == by_enumeration(*case), case
                        checked += 1
    assert checked >= 10


def test_counts_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="does not hold"):
        verdicts_possible(3, 4, 0, 12, 10, Fraction(1, 10))
    with pytest.raises(ValueError, match="does not hold"):
        verdicts_possible(8, 1, 5, 12, 10, Fraction(1, 10))
