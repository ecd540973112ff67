"""What the banner says, line by line, and the exit code behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import made_ledgers as made
import msgspec
import pytest

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.flip import flip_table
from tui_bench.analysis.fold import fold, fold_all
from tui_bench.analysis.gate import exit_of, gate, gate_json
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording.numbers import cells


def verdict(state: RunState, strict: bool = False) -> tuple[str, int]:
    """State and exit code of the only gate."""
    (one,) = gates(state, strict)
    return one.state, exit_of([one])


def has(state: RunState, block: Sequence[str]) -> None:
    """The banner begins with these lines, and its first line fits 80 cells."""
    lines = banner(state)
    assert lines[: len(block)] == list(block)
    assert cells(lines[0]) <= 80


LIVE = [(2, 2), (2, 0), (1, 1), (0, 0), (2, 1), (1, 2), (2, 2), (2, 2), (0, 0), (0, 1), (2, 2), (1, 0)]
"""Passes of two attempts in either box, task by task."""


def live_table() -> dict[str, list[str]]:
    first = {2: "PP", 1: "PF", 0: "FF"}
    second = {2: "PP", 1: "FP", 0: "FF"}
    return {f"t{index:02}": [first[a], second[b]] for index, (a, b) in enumerate(LIVE, 1)}


def test_open_with_one_flip() -> None:
    state = made.state_of(made.pairs(both=11, down=1))
    has(state, [
        "GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)  local vs remote  tier NOISY",
        "  weak: 1/12 fits a true rate of 0.2 % to 38.5 %; P(rate <= 0.10) = 0.38",
        "  next: box noise is as large as a 1-task model lead - re-run the flips",
    ])  # fmt: skip
    assert verdict(state) == ("open", 0)
    assert verdict(state, strict=True) == ("open", 3)


def test_x0_22_open_without_a_flip_says_what_that_is_worth() -> None:
    state = made.state_of(made.pairs(both=12))
    assert banner(state) == [
        "GATE OPEN   0 of 12 tasks flipped (0.000 <= 0.10)  tier QUIET",
        "  weak: flip rate below 22.1 % (95 %); 29 clean pairs would show 10 %",
    ]
    conclusive = made.state_of(made.pairs(both=29))
    assert banner(conclusive)[1] == "  conclusive: flip rate below 9.8 % (95 %)"
    assert verdict(conclusive, strict=True) == ("open", 0)


def test_x0_27_equality_opens_and_says_that_the_limit_is_reached() -> None:
    state = made.state_of(made.pairs(both=90, down=10))
    has(state, ["GATE OPEN   10 of 100 tasks flipped (0.100 <= 0.10, limit reached)"])
    assert verdict(state) == ("open", 0)
    just_over = made.state_of(made.pairs(both=89, down=10))
    assert verdict(just_over) == ("shut", 1)


def test_shut_but_undecided() -> None:
    state = made.state_of(made.pairs(both=10, down=1, up=1))
    has(state, [
        "GATE SHUT   2 of 12 tasks flipped (0.167 > 0.10)  1 PASS->FAIL, 1 FAIL->PASS",
        "  undecided at 95 %: true rate 2.1 % to 48.4 %; 4 flips would be conclusive",
    ])  # fmt: skip
    assert verdict(state) == ("shut", 1)
    assert verdict(state, strict=True) == ("shut", 3)


def test_shut_and_conclusive() -> None:
    state = made.state_of(made.pairs(both=7, down=5))
    has(state, ["GATE SHUT   5 of 12 tasks flipped (0.417 > 0.10)  conclusive (p = 0.0043)"])
    assert "  local vs remote: 5 PASS->FAIL, 0 FAIL->PASS" in banner(state)
    assert verdict(state, strict=True) == ("shut", 1)


def test_live_agent_gets_the_flips_that_it_would_bring_alone() -> None:
    state = made.state_of(live_table(), agent="A")
    has(state, [
        "GATE SHUT   4 of 12 tasks flipped; 3.0 expected from the agent alone",
        "  same box 0.25, across 0.29, excess +0.04 (p = 0.56): not shown to be the box",
    ])  # fmt: skip
    assert "  agent unstable: 5 of 12 tasks disagree with themselves in one box" in banner(state)


OWN_NOISE = [
    "the flips may be the agent's own noise; cheapest: re-run the flips",
    "  the re-run is registered (resume --rerun-flips); or add attempts in each cell",
]
BOX = "  next: tier LOUD - the box dominates: fix the environment, publish nothing about models yet"


def test_where_the_excess_is_not_shown_the_next_step_tells_the_box_from_the_agent() -> None:
    assert banner(made.state_of(live_table(), agent="A"))[2:4] == [f"  next: tier LOUD - {OWN_NOISE[0]}", OWN_NOISE[1]]
    once = banner(made.state_of(made.pairs(both=7, down=5), agent="A"))
    assert once[1:4] == [
        "  same-box disagreement unknown: it needs 2 or more attempts in each cell",
        f"  next: tier LOUD - {OWN_NOISE[0]}",
        OWN_NOISE[1],
    ]
    noisy = banner(made.state_of(made.pairs(both=11, down=1), agent="A"))
    assert noisy[3:5] == [f"  next: {OWN_NOISE[0]}", OWN_NOISE[1]]


def test_the_box_dominates_only_where_it_is_shown_or_the_subject_cannot_move() -> None:
    broken = {**{f"a{i}": ["PPP", "FFF"] for i in range(4)}, **{f"b{i:02}": ["PPP", "PPP"] for i in range(8)}}
    assert BOX in banner(made.state_of(broken, agent="A"))
    assert BOX in banner(made.state_of(made.pairs(both=7, down=5)))


def test_a_gate_that_cannot_be_read_gives_no_advice_by_tier() -> None:
    flaky = banner(made.state_of(live_table()))
    assert [line for line in flaky if "next:" in line or "tier" in line] == [
        "  next: fix the test first; until then no flip can be assigned to the box"
    ]
    for down in (2, 5):
        state = made.state_of(
            made.pairs(both=12 - down, down=down), env_facts=FACTS, dimension="runtime", dimension_facts=[]
        )
        assert banner(state)[0].startswith("CONFOUNDED")
        assert not any("next:" in line or "tier" in line for line in banner(state))


def test_x0_24_a_live_agent_that_disagrees_with_itself_is_never_a_flaky_test() -> None:
    assert verdict(made.state_of(live_table(), agent="A")) == ("shut", 1)
    assert verdict(made.state_of(live_table())) == ("flaky", 5)


def test_a_live_agent_whose_box_breaks_tasks_every_time_is_shown_to_be_the_box() -> None:
    table = {**{f"a{i}": ["PPP", "FFF"] for i in range(4)}, **{f"b{i:02}": ["PPP", "PPP"] for i in range(8)}}
    state = made.state_of(table, agent="A")
    lines = banner(state)
    assert lines[0] == "GATE SHUT   4 of 12 tasks flipped (0.333 > 0.10)  conclusive (p = 0.026)"
    assert lines[1] == "  same box 0.00, across 0.33, excess +0.33 (p = 0.0001): shown to be the box"


def test_one_live_attempt_a_cell_cannot_tell_box_from_agent() -> None:
    lines = banner(made.state_of(made.pairs(both=11, down=1), agent="A"))
    assert "  same-box disagreement unknown: it needs 2 or more attempts in each cell" in lines


def test_no_verdict_with_too_few_pairs() -> None:
    state = made.state_of(made.pairs(both=7, void=3, todo=2), rule={"min_pairs": "5/6"})
    has(state, ["NO VERDICT    7 of 12 pairs scored, 10 needed (3 void, 2 missing)"])
    assert verdict(state) == ("no_verdict", 3)


def test_min_pairs_is_rounded_up() -> None:
    assert verdict(made.state_of(made.pairs(both=11, void=1))) == ("open", 0)
    assert verdict(made.state_of(made.pairs(both=10, void=1, todo=1)))[0] == "no_verdict"
    assert gates(made.state_of(made.pairs(both=12)))[0].needed == 11


def test_x0_16_zero_pairs_are_no_evidence() -> None:
    state = made.state_of(made.pairs(void=12))
    lines = banner(state)
    assert lines[0] == "NO EVIDENCE   0 of 12 pairs scored (12 void, 0 missing)"
    assert lines[1] == "  12 infra: the instrument failed - read the attempt's log, then resume"
    assert verdict(state) == ("no_evidence", 3)


@pytest.mark.parametrize("rows", [[], [made.run_row(), made.event_row("ended")], [made.run_row()]])
def test_b38_nothing_to_divide_by_is_words_and_exit_3(rows: list[object]) -> None:
    state = fold_all(rows)  # type: ignore[arg-type]
    assert banner(state) == ["NO EVIDENCE   0 complete pairs: no environment in the ledger"]
    assert exit_of(gates(state)) == 3


def test_b38_one_environment_and_one_attempt() -> None:
    state = made.state_of({"t01": ["P"]}, envs=["local"])
    assert banner(state) == ["NO EVIDENCE   0 complete pairs: one environment only, local"]
    assert verdict(state) == ("no_evidence", 3)


def test_b38_all_tasks_set_apart() -> None:
    rows = [made.run_row(), made.task_row("t01"), made.env_row("local"), made.env_row("remote")]
    rows += [made.event_row("screened", task="t01", env="local", outcome="already_solved", reason="passes")]
    state = fold_all([*rows, made.event_row("ended")])
    assert banner(state)[0] == "NO EVIDENCE   0 complete pairs: all 1 tasks set apart before the run"
    assert "  set apart before the run: 1 task: t01 already_solved" in banner(state)
    assert verdict(state) == ("no_evidence", 3)


def test_x0_01_fail_everywhere_is_uninformative() -> None:
    state = made.state_of(made.pairs(fail=12))
    assert banner(state) == [
        "UNINFORMATIVE 0 of 12 flipped, but no task passed in either environment",
        "  identical failures say nothing about the box - run the reference patch",
    ]
    assert verdict(state) == ("uninformative", 3)


def test_a_box_in_which_nothing_passes_cannot_open_the_gate_but_can_shut_it() -> None:
    assert verdict(made.state_of(made.pairs(fail=11, down=1))) == ("uninformative", 3)
    assert verdict(made.state_of(made.pairs(down=12))) == ("shut", 1)


def test_mostly_failing_pairs_are_named() -> None:
    lines = banner(made.state_of(made.pairs(both=2, fail=10)))
    assert "  10 of 12 pairs fail on both sides: no information from them" in lines


FACTS = {
    "local": {"python": "3.11", "cpus": "2", "timeout_s": "120"},
    "remote": {"python": "3.12", "cpus": "4", "timeout_s": "60"},
}


def test_x0_33_undeclared_dimensions_are_named_and_exit_follows_the_gate() -> None:
    state = made.state_of(
        made.pairs(both=11, down=1), env_facts=FACTS, dimension="runtime", dimension_facts=["runtime.*"]
    )
    has(state, [
        "CONFOUNDED    envs differ in 3 undeclared dimensions: cpus, python, timeout_s",
        "  declared: runtime. The flip count cannot be assigned to it",
        "  GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)  local vs remote  tier NOISY",
    ])  # fmt: skip
    assert verdict(state) == ("confounded", 0)
    assert verdict(state, strict=True) == ("confounded", 3)
    shut = made.state_of(made.pairs(down=12), env_facts=FACTS, dimension="runtime", dimension_facts=[])
    assert verdict(shut) == ("confounded", 1)


@pytest.mark.parametrize(("count", "last"), [(9, "k_h_long_name_of_a_fact"), (12, "+2 more")])
def test_facts_that_the_first_line_has_no_room_for_are_listed_below_it(count: int, last: str) -> None:
    facts = [f"k_{letter}_long_name_of_a_fact" for letter in "abcdefghijkl"[: count - 1]]
    sides = {env: dict.fromkeys([*facts, "box.container"], env) for env in ("local", "remote")}
    state = made.state_of(made.pairs(both=12), env_facts=sides, dimension="timezone", dimension_facts=[])
    lines = banner(state)
    assert lines[0] == f"CONFOUNDED    envs differ in {count} undeclared dimensions: box.container, +{count - 1} more"
    end = next(index for index, line in enumerate(lines) if line.startswith("  declared: timezone."))
    listed = lines[1:end]
    assert listed[0] == "  undeclared: box.container, k_a_long_name_of_a_fact, k_b_long_name_of_a_fact,"
    assert listed[1] == "              k_c_long_name_of_a_fact, k_d_long_name_of_a_fact,"
    names = " ".join(listed).split("undeclared:")[1].split()
    shown = ["box.container", *facts][:10] + (["+2", "more"] if count > 10 else [])
    assert [name.rstrip(",") for name in names] == shown
    assert listed[-1].endswith(last)
    assert all(cells(line) <= 80 for line in listed)


def test_strict_says_why_an_open_gate_is_exit_3() -> None:
    state = made.state_of(made.pairs(both=12))
    assert banner(state, strict=True) == [*banner(state), "  strict: undecided at 95 %, exit 3"]
    shut = made.state_of(made.pairs(both=10, down=2))
    assert banner(shut, strict=True)[-1] == "  strict: undecided at 95 %, exit 3"
    confounded = made.state_of(made.pairs(both=29), env_facts=FACTS, dimension="runtime", dimension_facts=[])
    assert banner(confounded, strict=True)[-1] == "  strict: envs differ beyond what is declared, exit 3"
    sure = made.state_of(made.pairs(both=29))
    assert banner(sure, strict=True) == banner(sure)


def test_a_confounded_gate_never_hides_that_it_says_nothing() -> None:
    state = made.state_of(made.pairs(fail=12), env_facts=FACTS, dimension="runtime", dimension_facts=[])
    assert verdict(state) == ("confounded", 3)


def test_declared_facts_and_undeclared_studies_are_not_confounded() -> None:
    covered = ["python", "cpus", "timeout_*"]
    for fields in ({"dimension": "box", "dimension_facts": covered}, {"dimension": None, "dimension_facts": []}):
        assert verdict(made.state_of(made.pairs(both=12), env_facts=FACTS, **fields)) == ("open", 0)


def test_a_fact_that_only_one_side_has_is_a_difference() -> None:
    facts = {"local": {"time.tz": "UTC", "env.TZ": "UTC"}, "remote": {"time.tz": "x", "env.TZ": "x", "env.COLOUR": "1"}}
    fields = {"dimension": "timezone", "dimension_facts": ["time.*", "env.TZ"]}
    state = made.state_of(made.pairs(both=12), env_facts=facts, **fields)
    assert banner(state)[0] == "CONFOUNDED    envs differ in 1 undeclared dimension: env.COLOUR"
    del facts["remote"]["env.COLOUR"]
    assert verdict(made.state_of(made.pairs(both=12), env_facts=facts, **fields)) == ("open", 0)


def test_facts_of_an_unavailable_environment_are_unknown_and_not_a_difference() -> None:
    state = made.state_of(made.pairs(both=12), dimension="kind", dimension_facts=[])
    fold(state, made.env_row("remote", facts={}, unavailable="no engine"), 0)
    assert verdict(state) == ("open", 0)


def test_flaky_test_of_a_frozen_subject() -> None:
    table = {"t04": ["PPP", "PFP"], "t09": ["PPP", "PFP"], **{f"u{i}": ["PPP", "PPP"] for i in range(5)}}
    has(made.state_of(table), [
        "FLAKY TEST    t04, t09: same tree, same box, different verdicts (verify 3x)",
        "  5 others: no flake seen; a 1-in-3 flake escapes 3 runs 30 % of the time",
    ])  # fmt: skip


def flaky_replays(rule: Mapping[str, object]) -> RunState:
    rows = made.rows_of(made.pairs(both=12), agent="A", rule={"verify_replays": 2} | dict(rule))
    for row in rows:
        if isinstance(row, made.AttemptRow) and row.task == "t07" and row.env == "remote":
            row.verify_runs = [0, 1, 0]
    return fold_all(rows)


def test_verify_replays_that_disagree_are_a_flaky_test_for_any_subject() -> None:
    state = flaky_replays({})
    has(state, [
        "FLAKY TEST    t07: same tree, same box, different verdicts (verify 3x)",
        "  11 others: no flake seen; a 1-in-3 flake escapes 3 runs 30 % of the time",
    ])  # fmt: skip
    assert verdict(state) == ("flaky", 5)


def test_x3_13_where_the_study_asks_for_a_drift_limit_the_run_is_stopped() -> None:
    state = flaky_replays({"drift_stop": 0})
    assert banner(state)[0] == "STOPPED       verify drift on 1 cell (limit 0): t07 / agent A"
    assert verdict(state) == ("stopped", 4)
    assert verdict(flaky_replays({"drift_stop": 1})) == ("flaky", 5)


def test_x3_15_void_share_stops_above_one_twelfth_and_names_the_causes() -> None:
    rows = made.rows_of(made.pairs(both=21, void=3), agent="B", rule={"min_pairs": "1/2"})
    voids = [row for row in rows if isinstance(row, made.AttemptRow) and row.passed is None]
    for row in voids[:2]:
        row.void = "oracle_mutated"
    state = fold_all(rows)
    assert banner(state)[0] == "STOPPED       3 of 24 tasks void (limit 2): 2 oracle_mutated by B, 1 infra"
    assert verdict(state) == ("stopped", 4)
    assert verdict(made.state_of(made.pairs(both=22, void=2), rule={"min_pairs": "1/2"})) == ("open", 0)


def test_conduct_voids_come_with_what_they_would_change() -> None:
    rows = made.rows_of(made.pairs(both=11, void=1), agent="B")
    for row in rows:
        if isinstance(row, made.AttemptRow) and row.passed is None:
            row.void = "forbidden_edit"
    lines = banner(fold_all(rows))
    assert "  void 1 of 12: 1 forbidden_edit by B" in lines
    assert "  if a void counted as fail for the agent that caused it: 1 of 12 flipped" in lines
    assert not any("counted as fail" in line for line in banner(made.state_of(made.pairs(both=11, void=1))))


def test_a_damaged_ledger_stops_every_gate() -> None:
    state = made.state_of(made.pairs(both=12))
    state.damage += ["line 41 is not a row", "line 42 does not follow"]
    assert banner(state)[0] == "STOPPED       ledger damaged: line 41 is not a row (and 1 more)"
    assert verdict(state) == ("stopped", 4)


def test_more_than_two_boxes_name_the_worst_pair_and_cochrans_q() -> None:
    rows = ["PFPP", "FPPP", "PPPF", "FPFF", "FPFF", "PFPF", "FPFF", "PPPP", "FPFF"]
    state = made.state_of({f"t{i}": list(row) for i, row in enumerate(rows)}, envs=["local", "ci", "lab", "vm"])
    lines = banner(state)
    assert lines[0] == "GATE SHUT     worst pair local vs ci: 7 of 9; 4 boxes, Q = 4.20, df 3, p = 0.24"
    assert any(line.startswith("  6 pairs of boxes compared: smallest mid-p") for line in lines)
    assert verdict(state) == ("shut", 1)


def test_more_than_two_boxes_without_a_flip_have_no_q() -> None:
    state = made.state_of({f"t{i:02}": list("PPP") for i in range(12)}, envs=["a", "b", "c"])
    assert banner(state)[0] == "GATE OPEN     worst pair a vs b: 0 of 12; 3 boxes, Q undefined: no task differs"


def test_a_box_that_scored_nothing_is_the_worst_pair() -> None:
    state = made.state_of({f"t{i:02}": list("PPV") for i in range(12)}, envs=["a", "b", "c"])
    assert verdict(state) == ("no_evidence", 3)


def test_exit_of_several_gates_is_the_first_present_of_the_order() -> None:
    quiet, shut = gates(made.state_of(made.pairs(both=12))), gates(made.state_of(made.pairs(down=12)))
    none, flaky = gates(made.state_of(made.pairs(void=12))), gates(flaky_replays({}))
    stopped = gates(flaky_replays({"drift_stop": 0}))
    assert exit_of(quiet + shut) == 1
    assert exit_of(quiet + shut + none) == 3
    assert exit_of(quiet + none + flaky) == 5
    assert exit_of(flaky + stopped + shut) == 4
    assert exit_of([]) == 3


def test_x0_34_another_rule_than_the_registered_one_is_labelled() -> None:
    state = made.state_of(made.pairs(both=10, down=2))
    table = flip_table(state, "", "local", "remote")
    other = gate(table, msgspec.structs.replace(state.rule, flip_rate="1/4"), state)
    assert (other.state, other.post_hoc) == ("open", True)
    assert other.lines[-1] == "  post hoc: this rule was not the one registered before the data"
    assert not gates(state)[0].post_hoc


def test_gate_json_is_the_published_shape() -> None:
    (one,) = gates(made.state_of(made.pairs(both=12), agent="A"))
    assert gate_json(one) == {"agent": "A", "pair": ["local", "remote"], "state": "open", "exit": 0}


def test_agent_not_working_is_said_when_more_than_half_its_attempts_left_nothing() -> None:
    rows = made.rows_of(made.pairs(fail=12), agent="A")
    for row in rows:
        if isinstance(row, made.AttemptRow):
            row.patch_sha256 = "empty" if row.task <= "t07" else "f" * 64
    assert "AGENT NOT WORKING  A: 14 of 24 attempts left an empty patch and no usage" in banner(fold_all(rows))


def test_replaced_and_duplicate_rows_are_named() -> None:
    rows = made.rows_of(made.pairs(both=12), over=False)
    rows += [made.attempt_row("t01", "local", 0, True, replaces=3), made.attempt_row("t02", "local", 0, True)]
    lines = banner(fold_all([*rows, made.event_row("ended")]))
    assert "  1 lost attempt run again, the newest counts" in lines
    assert "  1 duplicate row: the newest counts" in lines


def test_long_and_wide_names_keep_the_first_line_within_80_cells() -> None:
    envs = ["本地容器" * 10, "e\u0301" * 50]
    for table in (made.pairs(both=11, down=1), made.pairs(fail=11, down=1), made.pairs(both=7, down=5)):
        lines = banner(made.state_of(table, envs=envs))
        assert cells(lines[0]) <= 80
        assert any(envs[0] in line or envs[1] in line for line in lines)
    many = {f"{'长' * 30}{i}": ["PP", "PF"] for i in range(9)}
    first = banner(made.state_of(many))[0]
    assert cells(first) <= 80
    assert "+8 more" in first


def test_other_gates_are_written_as_exactly_as_they_are() -> None:
    state = made.state_of(made.pairs(both=12), rule={"flip_rate": str(Fraction(1, 8))})
    assert banner(state)[0] == "GATE OPEN   0 of 12 tasks flipped (0.000 <= 0.125)  tier QUIET"


def test_r0_17_a_ledger_of_probes_without_a_run_row_is_a_frozen_subject() -> None:
    assert verdict(fold_all(made.cells({"t1": ["PP", "PF"], "t2": ["PP", "PP"]}, ["a", "b"]))) == ("flaky", 5)
