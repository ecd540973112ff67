"""Paired verdicts: McNemar's test, Cochran's Q, Holm's adjustment. p-values are exact fractions where named so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

_EXACT_BELOW = 24
"""Discordant tasks x columns: below this the chi-square tail is not trusted."""
_PATTERNS_AT_MOST = 200_000


def mcnemar_exact(b: int, c: int) -> Fraction:
    """Two-sided exact McNemar p of `b` against `c` discordant pairs: twice the binomial(b + c, 1/2) tail, at most 1."""
    return min(Fraction(1), 2 * _half_tail(b, c))


def mcnemar_midp(b: int, c: int) -> Fraction:
    """Two-sided mid-p McNemar (Fagerland, Lydersen, Laake 2013): the exact p less the probability of the split seen."""
    if b == c:
        return Fraction(1)
    n, k = b + c, min(b, c)
    return 2 * _half_tail(b, c) - Fraction(math.comb(n, k), 2**n)


def _half_tail(b: int, c: int) -> Fraction:
    if b < 0 or c < 0:
        raise ValueError(f"counts of discordant pairs are not negative: {b}, {c}")
    n, k = b + c, min(b, c)
    return Fraction(sum(math.comb(n, i) for i in range(k + 1)), 2**n)


def chi_square_tail(x: float, df: int) -> float:
    """P(X >= x) for chi-square with integer `df` >= 1, in closed form (DLMF 8.4.10 and 8.4.15)."""
    if df < 1 or x < 0:
        raise ValueError(f"a chi-square tail needs df >= 1 and x >= 0, not x={x}, df={df}")
    half = x / 2
    if df % 2 == 0:
        term, total = math.exp(-half), 0.0
        for i in range(df // 2):
            total += term
            term *= half / (i + 1)
        return min(1.0, total)
    total = math.erfc(math.sqrt(half))
    term = math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
    for i in range(df // 2):
        total += term
        term *= half / (i + 1.5)
    return min(1.0, total)


@dataclass(frozen=True, slots=True)
class CochranQ:
    """`q` is exact; `p` from the permutation distribution where `exact`, else from chi-square with `df`."""

    q: Fraction
    df: int
    p: float
    exact: bool


def cochran_q(rows: Sequence[Sequence[bool]]) -> CochranQ | None:
    """Cochran's Q (1950) of rows = tasks, columns = environments; None where no row is discordant (0/0).

    Raises ValueError for fewer than two columns or ragged rows.
    """
    width = len(rows[0]) if rows else 0
    if rows and (width < 2 or any(len(row) != width for row in rows)):
        raise ValueError("Cochran's Q needs rows of one length, at least 2")
    discordant = [row for row in rows if 0 < sum(row) < width]
    if not discordant:
        return None
    sums = [sum(row) for row in discordant]
    columns = [sum(bool(row[j]) for row in discordant) for j in range(width)]
    q = _q_of(columns, sums, width)
    patterns = math.prod(math.comb(width, total) for total in sums[1:])
    if len(discordant) * width < _EXACT_BELOW and patterns <= _PATTERNS_AT_MOST:
        return CochranQ(q, width - 1, float(_permutation_p(q, sums, width)), True)
    return CochranQ(q, width - 1, chi_square_tail(float(q), width - 1), False)


def _q_of(columns: Sequence[int], sums: Sequence[int], width: int) -> Fraction:
    total = sum(columns)
    spread = width * sum(count * count for count in columns) - total * total
    return Fraction((width - 1) * spread, width * total - sum(count * count for count in sums))


def _permutation_p(q: Fraction, sums: Sequence[int], width: int) -> Fraction:
    # Q does not depend on which column is which, so the first row's pattern may be held fixed.
    states: Counter[tuple[int, ...]] = Counter({tuple(int(j < sums[0]) for j in range(width)): 1})
    for total in sums[1:]:
        following: Counter[tuple[int, ...]] = Counter()
        patterns = [frozenset(chosen) for chosen in combinations(range(width), total)]
        for columns, ways in states.items():
            for chosen in patterns:
                moved = tuple(count + (j in chosen) for j, count in enumerate(columns))
                # Sorted, because columns are exchangeable: this keeps the number of states small.
                following[tuple(sorted(moved))] += ways
        states = following
    reached = sum(ways for columns, ways in states.items() if _q_of(columns, sums, width) >= q)
    return Fraction(reached, states.total())


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down adjusted p-values, in the order given."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted
