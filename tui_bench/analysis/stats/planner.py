"""How many tasks a paired comparison needs, and how small a gap given tasks can show.

Power saw-tooths with n: a number of tasks is the crossing found by bisection, exact to about two tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.paired_power import ALPHA, PairedTest, paired_power
from tui_bench.analysis.stats.proportion import normal_quantile

POWER = 0.8
TASKS_AT_MOST = 1200
_STEPS = 100
"""Steps in which a gap is searched between 0 and the discordance; rounding up to one never claims too much."""


def tasks_needed(
    gap: float,
    discordance: float,
    power: float = POWER,
    alpha: Fraction = ALPHA,
    test: PairedTest = "mid_p",
    at_most: int = TASKS_AT_MOST,
) -> int | None:
    """A number of tasks n with power(n) >= `power` > power(n - 1); None where `at_most` tasks do not suffice.

    Raises ValueError for a gap outside (0, discordance] and what `paired_power` refuses.
    """
    _check(power)
    if not 0 < gap <= discordance:
        raise ValueError(f"a gap to plan for lies in (0, discordance], not {gap} of {discordance}")
    low, high = 0, 1
    while paired_power(high, discordance, gap, alpha, test) < power:
        if high >= at_most:
            return None
        low, high = high, min(at_most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        if paired_power(middle, discordance, gap, alpha, test) >= power:
            high = middle
        else:
            low = middle
    return high


def detectable_gap(
    n: int, discordance: float, power: float = POWER, alpha: Fraction = ALPHA, test: PairedTest = "mid_p"
) -> float | None:
    """Smallest gap that `n` tasks show with `power`, in hundredths of the discordance; None where not even the last is.

    Raises ValueError for what `paired_power` refuses.
    """
    _check(power)
    if paired_power(n, discordance, discordance, alpha, test) < power:
        return None
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        if paired_power(n, discordance, discordance * (middle / _STEPS), alpha, test) >= power:
            high = middle
        else:
            low = middle
    return discordance * (high / _STEPS)


def connor_tasks(discordance: float, gap: float, power: float = POWER, alpha: float = 0.05) -> int:
    """Tasks by the normal formula of Connor (1987), a check on the exact figures; rounded up.

    n = (z_(alpha/2) sqrt(discordance) + z_power sqrt(discordance - gap^2))^2 / gap^2. Raises ValueError for a gap
    outside (0, discordance], discordance above 1, alpha or power outside (0, 1).
    """
    _check(power)
    if not 0 < gap <= discordance <= 1:
        raise ValueError(f"a gap to plan for lies in (0, discordance], not {gap} of {discordance}")
    reach = normal_quantile(1 - alpha / 2) * math.sqrt(discordance)
    reach += normal_quantile(power) * math.sqrt(discordance - gap * gap)
    return math.ceil(reach * reach / (gap * gap))


@dataclass(frozen=True, slots=True)
class TasksNeeded:
    """One entry of the planning table; None beyond the table's limit."""

    gap: float
    discordance: float
    mid_p: int | None
    exact: int | None


def tasks_table(
    gaps: Sequence[float], discordances: Sequence[float], power: float = POWER, alpha: Fraction = ALPHA
) -> tuple[TasksNeeded, ...]:
    """Tasks needed for every gap and every discordance that allows it, gap by gap. ValueError as `tasks_needed`."""
    return tuple(
        TasksNeeded(
            gap,
            discordance,
            tasks_needed(gap, discordance, power, alpha, "mid_p"),
            tasks_needed(gap, discordance, power, alpha, "exact"),
        )
        for gap in gaps
        for discordance in discordances
        if gap <= discordance
    )


def _check(power: float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"a power lies in (0, 1), not {power}")
