"""Whose share of the variation it is: variance components of verdicts over crossed factors, by counting pairs.

c_S is the mean product of verdicts over pairs of rows that agree on exactly the factors S. The component of S is the
inclusion-exclusion sum over T within S of (-1)^(|S| - |T|) c_T; the residual is mean - c_all, the total mean - c_none.
In balanced data these are the random-effects ANOVA estimates, exactly; they stay defined where attempts are missing or
void. Group sums make it O(rows), not O(rows^2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

ROUGH_BELOW = (24, 3)
"""Levels of the first factor, and attempts in every cell, below which the values are as uncertain as large."""
Factors = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """Raw variance of the factors named together, in squared verdicts; negative is legal, None where no pair tells."""

    factors: Factors
    value: Fraction | None


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """`parts` by number of factors; they and the `residual` add up to `total`, exactly.

    `constant` factors have one level here and no part. `attempts` is the fewest rows in a cell that has any, `levels`
    the number of levels of the first factor (the tasks).
    """

    parts: tuple[Component, ...]
    residual: Fraction | None
    total: Fraction | None
    mean: Fraction
    rows: int
    levels: int
    attempts: int
    constant: Factors

    def part(self, *factors: str) -> Fraction | None:
        """The raw component of exactly these factors, in any order. Raises ValueError where there is none."""
        for one in self.parts:
            if set(one.factors) == set(factors):
                return one.value
        raise ValueError(f"no variance component of {' x '.join(factors)}")

    def of_factor(self, factor: str) -> Fraction | None:
        """Sum of all components that name the factor, alone and with others; None where one of them is unknown.

        A box that breaks some tasks shows up almost only together with the task. ValueError for an unknown factor.
        """
        values = [one.value for one in self.parts if factor in one.factors]
        if not values and factor not in self.constant:
            raise ValueError(f"no factor {factor} among the variance components")
        known = [value for value in values if value is not None]
        return sum(known, Fraction(0)) if known and len(known) == len(values) else None

    @property
    def rough(self) -> bool:
        """Whether the bar must be called rough: fewer than 24 tasks or 3 attempts."""
        return self.levels < ROUGH_BELOW[0] or self.attempts < ROUGH_BELOW[1]

    def bar(self) -> tuple[tuple[Factors, Fraction], ...]:
        """Shares that add up to 1, negative components as 0, the residual under no factor.

        Empty below two attempts a cell, where a component is unknown, and where nothing varies.
        """
        parts = [*self.parts, Component((), self.residual)]
        shown = [(one.factors, max(Fraction(0), one.value)) for one in parts if one.value is not None]
        whole = sum((value for _, value in shown), Fraction(0))
        if self.attempts < 2 or len(shown) < len(parts) or whole == 0:
            return ()
        return tuple((factors, value / whole) for factors, value in shown)


def variance_components(
    rows: Iterable[tuple[Sequence[str], bool]], factors: Sequence[str]
) -> VarianceComponents | None:
    """Components of rows (level of every factor, passed); void rows are left out by the caller. None without rows.

    `factors` are named in the order of the levels, what is sampled (the task) first. 2^factors passes over the cells.
    Raises ValueError for rows with another number of levels, and for no or repeated factors.
    """
    names = tuple(factors)
    if not names or len(set(names)) != len(names):
        raise ValueError(f"variance components need factors with different names, not {names}")
    cells: dict[tuple[str, ...], tuple[int, int]] = {}
    for levels, passed in rows:
        if len(levels) != len(names):
            raise ValueError(f"a row has {len(levels)} levels for {len(names)} factors")
        count, passes = cells.get(tuple(levels), (0, 0))
        cells[tuple(levels)] = count + 1, passes + bool(passed)
    if not cells:
        return None
    sizes = [len({cell[i] for cell in cells}) for i in range(len(names))]
    varied = [i for i, size in enumerate(sizes) if size > 1]
    products = _mean_products(cells, varied)
    total = sum(count for count, _ in cells.values())
    mean = Fraction(sum(passes for _, passes in cells.values()), total)
    none, every = products[()], products[tuple(varied)]
    return VarianceComponents(
        tuple(
            Component(tuple(names[i] for i in chosen), _component(chosen, products))
            for chosen in products
            if chosen
        ),
        None if every is None else mean - every,
        None if none is None else mean - none,
        mean, total, sizes[0], min(count for count, _ in cells.values()),
        tuple(name for i, name in enumerate(names) if i not in varied),
    )  # fmt: skip


def _subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    return [chosen for size in range(len(items) + 1) for chosen in combinations(items, size)]


def _mean_products(
    cells: dict[tuple[str, ...], tuple[int, int]], varied: Sequence[int]
) -> dict[tuple[int, ...], Fraction | None]:
    """c_S for every set S of factors: mean product over ordered pairs that agree on S and on nothing else."""
    at_least: dict[tuple[int, ...], tuple[int, int]] = {}
    for chosen in _subsets(varied):
        groups: dict[tuple[str, ...], tuple[int, int]] = {}
        for cell, (count, passes) in cells.items():
            key = tuple([cell[i] for i in chosen])
            so_far, passed = groups.get(key, (0, 0))
            groups[key] = so_far + count, passed + passes
        # A verdict is 0 or 1, its own square: s^2 - s leaves out the pairs of a row with itself.
        at_least[chosen] = (
            sum(count * (count - 1) for count, _ in groups.values()),
            sum(passes * (passes - 1) for _, passes in groups.values()),
        )
    products: dict[tuple[int, ...], Fraction | None] = {}
    for chosen in at_least:
        pairs = both = 0
        for wider, (more_pairs, more_both) in at_least.items():
            if set(wider) >= set(chosen):
                sign = (-1) ** (len(wider) - len(chosen))
                pairs, both = pairs + sign * more_pairs, both + sign * more_both
        products[chosen] = Fraction(both, pairs) if pairs else None
    return products


def _component(chosen: tuple[int, ...], products: dict[tuple[int, ...], Fraction | None]) -> Fraction | None:
    value = Fraction(0)
    for narrower in _subsets(chosen):
        product = products[narrower]
        if product is None:
            return None
        value += (-1) ** (len(chosen) - len(narrower)) * product
    return value
