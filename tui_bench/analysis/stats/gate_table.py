"""What counts of flips mean at a gate, for any number of pairs: the table to read before a run is started."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tui_bench.analysis.stats.beta import beta_cdf
from tui_bench.analysis.stats.proportion import allowed_flips, at_most, conclusive_flips

Prior = Literal["uniform", "Jeffreys"]


@dataclass(frozen=True, slots=True)
class GateRow:
    """At `pairs` scored pairs: flips the point rule allows, and counts that are conclusive at the confidence asked for.

    `open_up_to`: its one-sided exact upper bound is at most the limit, None where not even 0 flips show that.
    `shut_from`: its lower bound is at least the limit, None where not even all flips show that.
    """

    pairs: int
    allowed: int
    open_up_to: int | None
    shut_from: int | None


def gate_row(pairs: int, limit: Fraction, conf: float = 0.95) -> GateRow:
    """The row of `pairs` >= 1 pairs. Raises ValueError below that, for limit outside [0, 1] and conf outside (0, 1)."""
    if pairs < 1 or not 0 <= limit <= 1 or not 0 < conf < 1:
        raise ValueError(f"a gate's row needs a pair, a limit and a confidence, not {pairs}, {limit}, {conf}")
    return GateRow(
        pairs, min(pairs, allowed_flips(pairs, limit)), _open_up_to(pairs, limit, conf),
        conclusive_flips(pairs, limit, conf),
    )  # fmt: skip


def _open_up_to(pairs: int, limit: Fraction, conf: float) -> int | None:
    """A bound is at most the limit exactly where so few flips have a probability of at most 1 - conf at the limit."""
    if limit == 1:
        return pairs
    low, high = -1, pairs
    while high - low > 1:
        middle = (low + high) // 2
        if at_most(middle, pairs, float(limit)) <= 1 - conf:
            low = middle
        else:
            high = middle
    return None if low < 0 else low


def pairs_to_open(flips: int, limit: Fraction, conf: float = 0.95) -> int | None:
    """Fewest pairs at which this many flips are a conclusive open; None for limit 0. ValueError for negative flips."""
    if flips < 0 or not 0 <= limit <= 1 or not 0 < conf < 1:
        raise ValueError(f"pairs to open need flips, a limit and a confidence, not {flips}, {limit}, {conf}")
    if limit == 0:
        return None
    if limit == 1:
        return max(1, flips)
    low, high = flips, max(1, 2 * flips)
    while at_most(flips, high, float(limit)) > 1 - conf:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if at_most(flips, middle, float(limit)) <= 1 - conf:
            high = middle
        else:
            low = middle
    return high


def posterior_within(flips: int, pairs: int, limit: float, prior: Prior = "uniform") -> float:
    """P(rate <= limit | flips of pairs) under the prior named: Beta(1, 1), or Beta(1/2, 1/2) after Jeffreys.

    No pairs give the prior itself. Raises ValueError for flips outside 0..pairs and a limit outside [0, 1].
    """
    if not 0 <= flips <= pairs:
        raise ValueError(f"flips lie in 0..pairs, not {flips} of {pairs}")
    share = 1.0 if prior == "uniform" else 0.5
    return beta_cdf(limit, flips + share, pairs - flips + share)
