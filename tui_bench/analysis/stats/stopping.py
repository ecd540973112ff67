"""How many pairs a run takes until its gate can no longer change, and what a sequential test would take instead."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.proportion import allowed_flips

_REST = 1e-13
"""Chance of not having ended at which counting on would change no digit anybody prints."""


def expected_pairs_until_decided(planned: int, limit: Fraction, rate: float) -> float:
    """Mean number of pairs until the point rule's verdict over `planned` pairs is settled, none of them void.

    Settled shut as soon as the flips exceed floor(planned x limit), open as soon as flips and pairs left do not: the
    verdict is the one of the full run, so no error rate changes. O(planned x flips allowed). Raises ValueError for
    planned < 1, rate or limit outside [0, 1].
    """
    if planned < 1 or not 0 <= rate <= 1 or not 0 <= limit <= 1:
        raise ValueError(f"a run needs a pair, a rate and a limit in [0, 1], not {planned}, {rate}, {limit}")
    allowed = allowed_flips(planned, limit)
    open_runs, mean = {0: 1.0}, 0.0
    for done in range(planned):
        # A run with so few flips that all pairs left may flip is over.
        open_runs = {flips: chance for flips, chance in open_runs.items() if flips + planned - done > allowed}
        mean += math.fsum(open_runs.values())
        following: dict[int, float] = {}
        for flips, chance in open_runs.items():
            following[flips] = following.get(flips, 0.0) + chance * (1 - rate)
            if flips < allowed:
                following[flips + 1] = following.get(flips + 1, 0.0) + chance * rate
        open_runs = following
    return mean


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """Wald's test of a low against a high flip rate.

    `clean_to_accept` pairs without a flip accept the low rate; `mean_at_low` and `mean_at_high` pairs are taken on
    average where that rate is true, overshoot included.
    """

    clean_to_accept: int
    mean_at_low: float
    mean_at_high: float


def sequential_plan(low: float, high: float, alpha: float = 0.05, beta: float = 0.05) -> SequentialPlan:
    """Sequential probability ratio test (Wald 1945): accept low at log LR <= log(beta / (1 - alpha)), high at
    >= log((1 - beta) / alpha). Means by counting paths.

    Raises ValueError unless 0 < low < high < 1 and alpha, beta > 0 with alpha + beta < 1.
    """
    if not 0 < low < high < 1 or not (alpha > 0 and beta > 0 and alpha + beta < 1):
        raise ValueError(f"a sequential test needs 0 < low < high < 1 and small errors, not {low}, {high}, {alpha}")
    flip, clean = math.log(high / low), math.log((1 - high) / (1 - low))
    bounds = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    steps = (flip, clean)
    return SequentialPlan(
        math.ceil(bounds[0] / clean), _mean_length(low, steps, bounds), _mean_length(high, steps, bounds)
    )


def _mean_length(rate: float, steps: tuple[float, float], bounds: tuple[float, float]) -> float:
    running, mean, done = {0: 1.0}, 0.0, 0
    while running and (rest := math.fsum(running.values())) > _REST:
        mean += rest
        done += 1
        following: dict[int, float] = {}
        for flips, chance in running.items():
            for more, share in ((0, 1 - rate), (1, rate)):
                ratio = (flips + more) * steps[0] + (done - flips - more) * steps[1]
                if bounds[0] < ratio < bounds[1]:
                    following[flips + more] = following.get(flips + more, 0.0) + chance * share
        running = following
    return mean
