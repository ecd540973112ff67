"""What a benchmark is: a name, a target ratio, and a measurement that gives one ratio a round."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


class Ratios(list[float]):
    """One ratio a round, product to floor, both measured within the round. `floor` is what the floor itself took."""

    def __init__(self, ratios: Iterable[float] = (), floor: str = "") -> None:
        super().__init__(ratios)
        self.floor = floor


@dataclass(frozen=True)
class Benchmark:
    """`measure(rounds, quick)` returns `Ratios`, or a plain list where there is no floor to show.

    The target is met when the median ratio is at most `target`.
    """

    name: str
    target: float
    measure: Callable[[int, bool], list[float]]
    floor: str = ""
    """What the ratio is to, in words."""
