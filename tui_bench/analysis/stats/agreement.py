"""Agreement beyond chance, secondary to the raw disagreement: near a ceiling these coefficients mislead.

All are nominal and exact. Where every rating is the same there is no variation to agree about: the value is None (0/0),
never 1. `counts` has a row for every unit (a task) and a column for every category (pass, fail).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def cohen_kappa(table: Sequence[Sequence[int]]) -> Fraction | None:
    """Cohen's (1960) kappa of two raters, (p_o - p_e) / (1 - p_e); `table` is square, counts of (first, second).

    None where p_e = 1 and for an empty table. Raises ValueError for a table that is not square, or negative counts.
    """
    size = len(table)
    if any(len(row) != size or min(row) < 0 for row in table):
        raise ValueError("Cohen's kappa needs a square table of counts that are not negative")
    n = sum(map(sum, table))
    by_chance = sum(sum(table[i]) * sum(row[i] for row in table) for i in range(size))
    if by_chance == n * n:
        return None
    agreed = sum(table[i][i] for i in range(size))
    return Fraction(n * agreed - by_chance, n * n - by_chance)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> Fraction | None:
    """Fleiss' (1971) kappa, (P - P_e) / (1 - P_e): the same number of ratings, at least 2, for every unit.

    None where P_e = 1 and without units. Raises ValueError for ragged rows, negative counts and unequal numbers of
    ratings: `krippendorff_alpha` takes those.
    """
    _check(counts)
    if not counts:
        return None
    ratings = sum(counts[0])
    if ratings < 2 or any(sum(row) != ratings for row in counts):
        raise ValueError("Fleiss' kappa needs the same number of ratings, at least 2, for every unit")
    total = len(counts) * ratings
    agreed = Fraction(sum(count * (count - 1) for row in counts for count in row), total * (ratings - 1))
    by_chance = Fraction(sum(sum(column) ** 2 for column in zip(*counts, strict=True)), total**2)
    return None if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


def krippendorff_alpha(counts: Sequence[Sequence[int]]) -> Fraction | None:
    """Krippendorff's (2011) nominal alpha, 1 - D_o / D_e, for any numbers of ratings per unit; void ones are absent.

    With n_uc ratings of category c in unit u, m_u = their sum over c, and n the sum of all m_u >= 2:
    D_o = sum over u of (m_u^2 - sum over c of n_uc^2) / (m_u - 1) / n, D_e = (n^2 - sum over c of n_c^2) / (n (n - 1)).
    Units with fewer than 2 ratings pair with nothing and are left out. None where D_e = 0 and without pairs.
    Raises ValueError for ragged rows and negative counts.
    """
    _check(counts)
    paired = [row for row in counts if sum(row) >= 2]
    n = sum(map(sum, paired))
    expected: int = n * n - sum(sum(column) ** 2 for column in zip(*paired, strict=True))
    if expected == 0:
        return None
    observed = sum(
        (Fraction(sum(row) ** 2 - sum(count * count for count in row), sum(row) - 1) for row in paired), Fraction(0)
    )
    return 1 - observed * (n - 1) / expected


def _check(counts: Sequence[Sequence[int]]) -> None:
    if any(len(row) != len(counts[0]) or min(row, default=0) < 0 for row in counts):
        raise ValueError("agreement needs rows of one length with counts that are not negative")
