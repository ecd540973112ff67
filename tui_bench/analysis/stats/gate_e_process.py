"""Evidence about a flip rate against a gate's limit that may be looked at after every pair.

The likelihood ratio of a rate q against the limit, (q / limit)^flips ((1 - q) / (1 - limit))^(pairs - flips), averaged
over three q on one side of the limit, has mean at most 1 for every true rate on the other side (Ville 1939; mixtures as
in Robbins 1970). It needs more pairs than the fixed test: below about 40 it rarely opens a gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.sign_e_value import STOP_AT

_BELOW = (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2))
"""Alternatives below the limit, as shares of it."""
_ABOVE = (Fraction(1, 9), Fraction(2, 9), Fraction(4, 9))
"""Alternatives above the limit, as shares of the way from it to 1."""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """`open`: e-value against "rate >= limit"; `shut`: against "rate <= limit". Either is decisive at `STOP_AT`."""

    open: Fraction
    shut: Fraction


def gate_evidence(flips: int, pairs: int, limit: Fraction) -> GateEvidence:
    """Both e-values after `flips` of `pairs`, exact. ValueError for flips outside 0..pairs or limit outside (0, 1)."""
    if not 0 <= flips <= pairs:
        raise ValueError(f"flips lie in 0..pairs, not {flips} of {pairs}")
    if not 0 < limit < 1:
        raise ValueError(f"a gate's e-value needs a limit in (0, 1), not {limit}")
    return GateEvidence(
        _mixture(flips, pairs, limit, [limit * share for share in _BELOW]),
        _mixture(flips, pairs, limit, [limit + (1 - limit) * share for share in _ABOVE]),
    )


def clean_pairs_to_open(limit: Fraction, stop_at: int = STOP_AT) -> int:
    """Fewest pairs without a flip whose `open` reaches `stop_at`. Raises ValueError for a limit outside (0, 1)."""
    pairs = 0
    while gate_evidence(0, pairs, limit).open < stop_at:
        pairs += 1
    return pairs


def flips_to_shut(pairs: int, limit: Fraction, stop_at: int = STOP_AT) -> int | None:
    """Fewest flips of `pairs` whose `shut` reaches `stop_at`; None where not even all do.

    Raises ValueError for negative `pairs` and a limit outside (0, 1).
    """
    if pairs < 0:
        raise ValueError(f"a count of pairs is not negative: {pairs}")
    reached = (flips for flips in range(pairs + 1) if gate_evidence(flips, pairs, limit).shut >= stop_at)
    return next(reached, None)


def _mixture(flips: int, pairs: int, limit: Fraction, rates: list[Fraction]) -> Fraction:
    ratios = [(rate / limit) ** flips * ((1 - rate) / (1 - limit)) ** (pairs - flips) for rate in rates]
    return sum(ratios, Fraction(0)) / len(ratios)
