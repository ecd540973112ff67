"""All numbers of one paired comparison, computed together so that no report picks among them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tui_bench.analysis.stats.paired import mcnemar_exact, mcnemar_midp
from tui_bench.analysis.stats.paired_interval import tango
from tui_bench.analysis.stats.proportion import Interval
from tui_bench.analysis.stats.sign_e_value import sign_e_value

ALPHA = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class PairedReport:
    """A against B over `n` scored pairs; `void` pairs stand beside them and enter nothing.

    `diff` = (only_a - only_b) / n with Tango's interval `ci` of confidence 1 - `alpha`. `mid_p` is the registered
    test, `exact` stands beside it, `e_value` may be looked at at any time. All but `ci` are exact.
    """

    only_a: int
    only_b: int
    ties: int
    void: int
    diff: Fraction
    ci: Interval
    mid_p: Fraction
    exact: Fraction
    e_value: Fraction
    alpha: Fraction

    @property
    def n(self) -> int:
        """Scored pairs."""
        return self.only_a + self.only_b + self.ties

    @property
    def discordance(self) -> Fraction:
        """Share of scored pairs whose verdicts differ."""
        return Fraction(self.only_a + self.only_b, self.n)

    @property
    def significant(self) -> bool:
        """What the registered test says: mid-p <= alpha."""
        return self.mid_p <= self.alpha

    @property
    def borderline(self) -> bool:
        """Whether mid-p, the exact test and the interval disagree about a difference."""
        excludes_zero = not self.ci[0] <= 0 <= self.ci[1]
        return len({self.significant, self.exact <= self.alpha, excludes_zero}) > 1


def paired_report(only_a: int, only_b: int, ties: int, void: int = 0, alpha: Fraction = ALPHA) -> PairedReport | None:
    """The report of counts; None where no pair was scored. ValueError for negative counts, alpha outside (0, 1)."""
    if min(only_a, only_b, ties, void) < 0:
        raise ValueError(f"counts of pairs are not negative: {only_a}, {only_b}, {ties}, {void}")
    if not 0 < alpha < 1:
        raise ValueError(f"an error rate lies in (0, 1), not {alpha}")
    n = only_a + only_b + ties
    if n == 0:
        return None
    return PairedReport(
        only_a, only_b, ties, void, Fraction(only_a - only_b, n), tango(only_a, only_b, n, float(1 - alpha)),
        mcnemar_midp(only_a, only_b), mcnemar_exact(only_a, only_b), sign_e_value(only_a, only_b), alpha,
    )  # fmt: skip
