"""Counts and settings that make no sense are refused in one clear line, never computed with."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tui_bench.analysis.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from tui_bench.analysis.stats.attempts_plan import Spread, attempts_needed, cheaper_growth, miller_gap, miller_tasks
from tui_bench.analysis.stats.bootstrap import bootstrap_ratio
from tui_bench.analysis.stats.components import variance_components
from tui_bench.analysis.stats.gap_split import CrossedTask, gap_split
from tui_bench.analysis.stats.gate_e_process import clean_pairs_to_open, flips_to_shut, gate_evidence
from tui_bench.analysis.stats.gate_table import gate_row, pairs_to_open, posterior_within
from tui_bench.analysis.stats.mcnemar_chi2 import mcnemar_chi2
from tui_bench.analysis.stats.net import net_difference
from tui_bench.analysis.stats.paired_interval import newcombe10, tango
from tui_bench.analysis.stats.paired_power import critical_counts, paired_power
from tui_bench.analysis.stats.paired_report import paired_report
from tui_bench.analysis.stats.pass_k import pass_at, pass_points
from tui_bench.analysis.stats.planner import connor_tasks, detectable_gap, tasks_needed, tasks_table
from tui_bench.analysis.stats.sign_e_value import false_stop_probability, sign_e_value, wins_to_stop, wins_to_stop_of
from tui_bench.analysis.stats.stopping import expected_pairs_until_decided, sequential_plan
from tui_bench.analysis.stats.task_means import task_mean
from tui_bench.analysis.stats.two_errors import two_errors

HALF = Fraction(1, 2)
SPREAD = Spread(0.1, 0.1, 0.1)
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: tango(5, 4, 8), r"5 \+ 4 of 8"),
    (lambda: tango(-1, 0, 8), "-1"),
    (lambda: tango(0, 0, 0), "n >= 1"),
    (lambda: tango(1, 1, 8, 1.0), "confidence"),
    (lambda: newcombe10(0, 0, 0, 0), "and a pair"),
    (lambda: newcombe10(3, -1, 0, 0), "not negative"),
    (lambda: newcombe10(3, 1, 0, 0, 0.0), "confidence"),
    (lambda: mcnemar_chi2(-1, 2), "not negative"),
    (lambda: paired_report(1, 1, -1), "not negative"),
    (lambda: paired_report(1, 1, 1, -1), "not negative"),
    (lambda: paired_report(1, 1, 1, alpha=Fraction(1)), "error rate"),
    (lambda: net_difference([(3, 2, 1, 2)]), "3 of 2"),
    (lambda: sign_e_value(-1, 0), "not negative"),
    (lambda: wins_to_stop(-1), "not negative"),
    (lambda: wins_to_stop(2, 0), "at least 1"),
    (lambda: wins_to_stop_of(2, 0), "at least 1"),
    (lambda: wins_to_stop_of(-1), "not negative"),
    (lambda: false_stop_probability(-1), "not negative"),
    (lambda: gate_evidence(4, 3, HALF), "4 of 3"),
    (lambda: gate_evidence(0, 3, Fraction(0)), r"limit in \(0, 1\)"),
    (lambda: clean_pairs_to_open(Fraction(1)), r"limit in \(0, 1\)"),
    (lambda: flips_to_shut(3, Fraction(1)), r"limit in \(0, 1\)"),
    (lambda: flips_to_shut(-3, HALF), "not negative"),
    (lambda: cohen_kappa([[1, 2]]), "square"),
    (lambda: cohen_kappa([[1, 2], [3, -1]]), "not negative"),
    (lambda: fleiss_kappa([[1, 2], [3]]), "one length"),
    (lambda: fleiss_kappa([[1, 2], [1, 1]]), "same number of ratings"),
    (lambda: fleiss_kappa([[1, 0], [0, 1]]), "at least 2"),
    (lambda: krippendorff_alpha([[1, -2]]), "not negative"),
    (lambda: pass_at(3, 2, 1), "0 <= passes <= attempts"),
    (lambda: pass_at(1, 2, 0), "k >= 1"),
    (lambda: pass_points([(3, 2)], (1,)), "0 <= passes <= attempts"),
    (lambda: two_errors([(3, 2)]), "3 of 2"),
    (lambda: task_mean([]), "0 values"),
    (lambda: task_mean([HALF], ["a", "b"]), "a cluster for each"),
    (lambda: task_mean([HALF], conf=1.0), "confidence"),
    (lambda: bootstrap_ratio([(1, -1), (1, 1)]), "not negative"),
    (lambda: bootstrap_ratio([(float("nan"), 1), (1, 1)]), "finite"),
    (lambda: bootstrap_ratio([(1, 1), (1, 1)], draws=10), "10 draws"),
    (lambda: bootstrap_ratio([(1, 1), (1, 1)], conf=0.0), "confidence"),
    (lambda: gap_split([CrossedTask((2, 1), (0, 0), (0, 0), (0, 0))]), "2 of 1"),
    (lambda: variance_components([], ()), "factors with different names"),
    (lambda: variance_components([], ("env", "env")), "factors with different names"),
    (lambda: variance_components([(("a",), True)], ("task", "env")), "1 levels for 2 factors"),
    (lambda: critical_counts(-1, HALF, "exact"), "pairs >= 0"),
    (lambda: critical_counts(3, Fraction(2), "exact"), "alpha"),
    (lambda: critical_counts(3, HALF, "sign"), "a test"),  # type: ignore[arg-type]
    (lambda: paired_power(-1, 0.3, 0.1), "n >= 0"),
    (lambda: paired_power(9, 0.3, 0.4), "discordance"),
    (lambda: paired_power(9, 0.0, 0.0), "discordance"),
    (lambda: paired_power(9, 0.3, float("nan")), "discordance"),
    (lambda: tasks_needed(0.0, 0.3), r"\(0, discordance\]"),
    (lambda: tasks_needed(0.4, 0.3), r"\(0, discordance\]"),
    (lambda: tasks_needed(0.1, 0.3, power=1.0), "power"),
    (lambda: detectable_gap(9, 0.3, power=0.0), "power"),
    (lambda: detectable_gap(9, 1.3), "discordance"),
    (lambda: connor_tasks(0.1, 0.2), "discordance"),
    (lambda: tasks_table([-0.1], [0.2]), "discordance"),
    (lambda: Spread(-0.1, 0, 0), "not negative"),
    (lambda: miller_tasks(0.0, SPREAD, 1, 1), "positive"),
    (lambda: miller_tasks(0.1, SPREAD, 0, 1), "at least 1"),
    (lambda: miller_tasks(0.1, SPREAD, 1, 1, power=2), "power"),
    (lambda: miller_gap(0, SPREAD, 1, 1), "a task"),
    (lambda: attempts_needed(0.1, 0, SPREAD), "a task"),
    (lambda: cheaper_growth(0.1, 5, 0, SPREAD), "at least 1"),
    (lambda: cheaper_growth(0.1, 5, 1, SPREAD, task_price=-1.0), "price"),
    (lambda: gate_row(0, HALF), "a pair"),
    (lambda: gate_row(3, Fraction(2)), "limit"),
    (lambda: pairs_to_open(-1, HALF), "flips"),
    (lambda: posterior_within(4, 3, 0.1), "4 of 3"),
    (lambda: posterior_within(1, 3, 1.1), "0 <= x <= 1"),
    (lambda: expected_pairs_until_decided(0, HALF, 0.1), "a pair"),
    (lambda: expected_pairs_until_decided(3, HALF, 1.1), "rate"),
    (lambda: sequential_plan(0.2, 0.1), "0 < low < high < 1"),
    (lambda: sequential_plan(0.1, 0.2, alpha=0.6, beta=0.6), "small errors"),
]


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_nonsense_is_refused_in_one_line(index: int) -> None:
    call, words = REFUSED[index]
    with pytest.raises(ValueError, match=words) as refusal:
        call()
    assert "\n" not in str(refusal.value)
