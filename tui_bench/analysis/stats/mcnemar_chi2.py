"""McNemar's test by its chi-square: printed beside the exact tests for readers who know it, registered nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.paired import chi_square_tail


@dataclass(frozen=True, slots=True)
class McNemarChi2:
    """`chi2` and, with Edwards' continuity correction, `chi2_corrected`; both with one degree of freedom."""

    chi2: Fraction
    p: float
    chi2_corrected: Fraction
    p_corrected: float


def mcnemar_chi2(b: int, c: int) -> McNemarChi2 | None:
    """(b - c)^2 / (b + c) (McNemar 1947) and max(0, |b - c| - 1)^2 / (b + c) (Edwards 1948) of discordant pairs.

    None without a discordant pair (0/0). Raises ValueError for negative counts.
    """
    if b < 0 or c < 0:
        raise ValueError(f"counts of discordant pairs are not negative: {b}, {c}")
    if b + c == 0:
        return None
    plain = Fraction((b - c) ** 2, b + c)
    corrected = Fraction(max(0, abs(b - c) - 1) ** 2, b + c)
    return McNemarChi2(plain, chi_square_tail(float(plain), 1), corrected, chi_square_tail(float(corrected), 1))
