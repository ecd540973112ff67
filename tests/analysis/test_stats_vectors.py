"""The twenty reference figures, H01 to H20; exact fractions wherever they are given."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tui_bench.analysis.stats.agreement import fleiss_kappa
from tui_bench.analysis.stats.clustered import clustered_se
from tui_bench.analysis.stats.components import variance_components
from tui_bench.analysis.stats.excess import excess_disagreement
from tui_bench.analysis.stats.gate_table import gate_row, pairs_to_open, posterior_within
from tui_bench.analysis.stats.mcnemar_chi2 import mcnemar_chi2
from tui_bench.analysis.stats.paired import cochran_q, holm, mcnemar_exact, mcnemar_midp
from tui_bench.analysis.stats.paired_interval import newcombe10, tango
from tui_bench.analysis.stats.paired_power import paired_power
from tui_bench.analysis.stats.paired_report import paired_report
from tui_bench.analysis.stats.pass_k import pass_at, pass_points
from tui_bench.analysis.stats.planner import connor_tasks
from tui_bench.analysis.stats.proportion import (
    clopper_pearson,
    normal_quantile,
    opening_probability,
    standard_error,
    upper_bound,
    wilson,
)
from tui_bench.analysis.stats.repeats import all_agree, escape, pass_hat, runs_to_see, within_disagreement

TENTH = Fraction(1, 10)


def near(expected: object) -> object:
    return pytest.approx(expected, abs=1e-9)


def test_h01_h02_wilson() -> None:
    assert wilson(81, 263) == near((0.2552885199, 0.366209577))
    assert wilson(0, 20) == near((0.0, 0.1611251581))
    assert wilson(0, 20)[0] == 0.0


def test_h03_clopper_pearson() -> None:
    assert clopper_pearson(15, 148) == near((0.05784401008, 0.1616504903))


def test_h04_bound_of_no_events() -> None:
    assert upper_bound(0, 12) == near(0.2209221919)
    assert pairs_to_open(0, TENTH) == 29


def test_h05_standard_error_and_half_width() -> None:
    assert standard_error(10, 20) == near(0.1118033989)
    assert standard_error(10, 20) * normal_quantile(0.975) == near(0.2191306351)
    assert wilson(10, 20) == near((0.2992980082, 0.7007019918))


def test_h06_mcnemar_all_ways() -> None:
    assert float(mcnemar_exact(6, 16)) == near(0.05247879028)
    assert float(mcnemar_midp(6, 16)) == near(0.03468966484)
    found = mcnemar_chi2(6, 16)
    assert found is not None
    assert (float(found.chi2), found.p, found.p_corrected) == near((4.545454545, 0.03300625766, 0.05500883363))
    assert found.chi2 == Fraction(50, 11)


def test_h07_newcombe() -> None:
    assert newcombe10(59, 6, 16, 80) == near((-0.1186211956, -0.004625113933))


def test_h08_tango() -> None:
    assert tango(6, 16, 161) == near((-0.1240234325, -0.005433395732))


def test_h09_paired_report() -> None:
    found = paired_report(5, 3, 14, 2)
    assert found is not None
    assert (found.n, found.void, found.diff) == (22, 2, Fraction(1, 11))
    assert (found.exact, found.mid_p, found.e_value) == (Fraction(93, 128), Fraction(65, 128), Fraction(32, 63))
    assert found.ci == near((-0.173059272, 0.3441404248))
    assert not found.significant


def test_h10_cochran() -> None:
    rows = ["1011", "0111", "1110", "0100", "0100", "1010", "0100", "1111", "0100"]
    found = cochran_q([[letter == "1" for letter in row] for row in rows])
    without = cochran_q([[letter == "1" for letter in row] for row in rows if row != "1111"])
    assert found is not None
    assert (found.q, found.df, found.p) == (Fraction(21, 5), 3, near(0.2406618852))
    assert found == without


def test_h11_fleiss() -> None:
    counts = (
        "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
        "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
    )
    kappa = fleiss_kappa([[int(digit) for digit in row] for row in counts.split()])
    assert kappa is not None
    assert float(kappa) == near(0.4302445201)


def test_h12_pass_at_k_is_not_the_plug_in() -> None:
    assert (pass_at(10 - 5, 10, 5), pass_hat(5, 10, 5)) == (Fraction(251, 252), Fraction(1, 252))
    assert pass_at(5, 10, 5) != 1 - Fraction(1, 2) ** 5


def test_h13_pass_hat_over_tasks_and_its_identity() -> None:
    cells = [(c, 4) for c, tasks in {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}.items() for _ in range(tasks)]
    points = pass_points(cells, (1, 2, 3, 4))
    assert [point.hat for point in points] == [Fraction(21, 50), Fraction(41, 150), Fraction(11, 50), Fraction(1, 5)]
    assert within_disagreement(cells) == Fraction(22, 75)
    assert 2 * (Fraction(21, 50) - Fraction(41, 150)) == Fraction(22, 75)


def test_h14_clustered_error_has_its_correction() -> None:
    assert clustered_se([[1, 1], [0, 0], [1, 0]]) == near(0.2886751346)


def test_h15_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == near([0.03, 0.06, 0.06, 0.02])


def test_h16_gate() -> None:
    assert gate_row(12, TENTH).allowed == 1
    opens = [opening_probability(12, TENTH, rate) for rate in (0, 0.02, 0.05, 0.1, 0.2, 0.3)]
    assert opens == near([1.0, 0.9768922479, 0.881640143, 0.6590022518, 0.2748779069, 0.08502504995])
    posterior = [posterior_within(flips, 12, 0.1) for flips in range(4)]
    assert posterior == near([0.7458134172, 0.3786550197, 0.1338827548, 0.03416072092])


def test_h17_excess() -> None:
    kinds = "2222 2202 1212 0202 2212 1222 2222 2222 0202 0212 2222 1202"
    found = excess_disagreement([(int(k[0]), int(k[1]), int(k[2]), int(k[3])) for k in kinds.split()])
    assert found is not None
    assert (found.between, found.within, found.excess) == (Fraction(7, 24), Fraction(1, 4), Fraction(1, 24))
    assert found.p_exact == Fraction(5, 9)


def test_h18_variance_components() -> None:
    verdicts = "11011001 01111010 10000100 11011101"
    rows = [
        ((f"t{t}", f"e{i // 4}", f"a{i // 2 % 2}"), digit == "1")
        for t, task in enumerate(verdicts.split())
        for i, digit in enumerate(task)
    ]
    found = variance_components(rows, ("task", "env", "agent"))
    assert found is not None
    values = [(part.factors, part.value) for part in found.parts]
    assert values == [
        (("task",), Fraction(1, 48)),
        (("env",), Fraction(1, 96)),
        (("agent",), Fraction(1, 48)),
        (("task", "env"), Fraction(-1, 96)),
        (("task", "agent"), Fraction(1, 24)),
        (("env", "agent"), Fraction(-1, 96)),
        (("task", "env", "agent"), Fraction(-11, 96)),
    ]
    assert (found.residual, found.total) == (Fraction(5, 16), Fraction(13, 48))


def test_h19_paired_power() -> None:
    assert paired_power(24, 1 / 3, 1 / 4, test="exact") == near(0.4520567877)
    assert paired_power(24, 1 / 3, 1 / 4, test="mid_p") == near(0.5794781774)
    assert connor_tasks(0.5, 0.4) == 23


def test_h20_flaky_escape() -> None:
    third = Fraction(1, 3)
    unseen = [float(escape(third, runs)) for runs in (2, 3, 5, 10)]
    assert unseen == near([0.4444444444, 0.2962962963, 0.1316872428, 0.01734152992])
    agree = [float(all_agree(third, runs)) for runs in (2, 3, 5, 10)]
    assert agree == near([0.5555555556, 0.3333333333, 0.1358024691, 0.017358465])
    assert (escape(third, 3), runs_to_see(third)) == (Fraction(8, 27), 8)
    assert math.isclose(float(escape(third, 8)), (2 / 3) ** 8)
