"""Which verdicts the pairs still to come can bring about: the ground for stopping early without changing any error."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

Possible = Literal["open", "shut", "no_verdict"]


def verdicts_possible(
    scored: int, flips: int, void: int, planned: int, min_pairs: int, limit: Fraction
) -> frozenset[Possible]:
    """Verdicts reachable when each pair left may still agree, flip or go void.

    With n = planned - void and m = max(min_pairs, 1): no_verdict iff scored < m; where n >= m, open iff
    flips / n <= limit and shut iff (flips + n - scored) / n > limit.
    Raises ValueError for counts that contradict each other.
    """
    if not 0 <= flips <= scored <= planned - void or void < 0:
        raise ValueError(f"flips {flips} <= scored {scored} <= planned {planned} - void {void} does not hold")
    n, least = planned - void, max(min_pairs, 1)
    found: set[Possible] = set()
    if scored < least:
        found.add("no_verdict")
    if n >= least:
        if flips <= limit * n:
            found.add("open")
        if flips + n - scored > limit * n:
            found.add("shut")
    return frozenset(found)
