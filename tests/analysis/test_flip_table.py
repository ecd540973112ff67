"""The flip table as values, as text and as JSON."""

from __future__ import annotations

import json
from fractions import Fraction

import made_ledgers as made
import pytest

from tui_bench.analysis.flip import flip_json, flip_table, flip_tables
from tui_bench.analysis.fold import fold, fold_all
from tui_bench.analysis.wording import flip_lines, screening_lines, void_advice, void_words
from tui_bench.errors import UsageError
from tui_bench.ledger.rows import VOID_CAUSES

PUBLISHED = {
    "t02_retry_budget": ["PPP", "FFF"],
    "t05_null_guard": ["PPP", "PPP"],
    "t07_cursor": ["FFF", "FFF"],
    "t09_pagination": ["PFP", "FPF"],
    "t11_offsets": ["PPP", "VVV"],
    "t12_locale": ["PPP", "..."],
}


def table_lines(**fields: object) -> list[str]:
    state = made.state_of(PUBLISHED, **fields)
    return flip_lines(state, flip_table(state, state.agents[0], "local", "remote"))


def test_the_table_line_by_line() -> None:
    lines = table_lines(agent="A")
    assert lines[:7] == [
        "task                     local        remote",
        "t02_retry_budget         PASS 3/3  -> FAIL 0/3   flip",
        "t05_null_guard           PASS 3/3  =  PASS 3/3",
        "t07_cursor               FAIL 0/3  =  FAIL 0/3   both fail: no information",
        "t09_pagination           PASS 2/3  ~> FAIL 1/3   flip, same-box disagreement",
        "t11_offsets              PASS 3/3  ?  void       not counted: infra (exit 127)",
        "t12_locale               PASS 3/3  ?  -          not run",
    ]
    assert lines[-2:] == [
        "planned=6 scored=4 void=1 missing=1 flips=2 (2 down, 0 up)",
        "tasks=4 flips=2 flip_rate=0.500 gate=0.10",
    ]


def test_what_the_table_cannot_show_stands_below_the_rows() -> None:
    assert "limits of this table: 6 tasks of one task set; other tasks may flip more or less" in table_lines(agent="A")
    lines = table_lines(agent="A", dimension="runtime", env_facts={"local": {"cpus": "2"}, "remote": {"cpus": "4"}})
    assert "  1 undeclared dimension beside runtime: cpus" in lines
    assert "  a binary test is blind to what it does not check" in lines
    assert "  flakiness unknown: verify ran once on each tree" in lines
    assert "  no dimension declared; 0 facts known to differ" in table_lines(agent="A")
    assert any("a 1-in-3 flake escapes 3 runs 30 % of the time" in line for line in table_lines())


def test_the_counts_of_the_table() -> None:
    state = made.state_of(PUBLISHED)
    table = flip_table(state, "", "local", "remote")
    assert (table.planned, table.complete, table.scored, table.void, table.missing) == (6, 5, 4, 1, 1)
    assert (table.flips, table.down, table.up, table.both_fail) == (2, 2, 0, 1)
    assert (table.rate, table.tier, table.passes_a, table.passes_b) == (Fraction(1, 2), "LOUD", 3, 1)
    assert table.attempts_left == 3


def test_x0_28_direction_is_kept() -> None:
    table = flip_table(made.state_of(made.pairs(down=2, up=3)), "", "local", "remote")
    assert (table.down, table.up) == (2, 3)
    turned = flip_table(made.state_of(made.pairs(down=2, up=3)), "", "remote", "local")
    assert (turned.down, turned.up) == (3, 2)


@pytest.mark.parametrize(
    ("flips", "of", "tier"),
    [
        (0, 12, "QUIET"),
        (1, 12, "NOISY"),
        (2, 12, "NOISY"),
        (3, 12, "LOUD"),
        (4, 24, "NOISY"),
        (5, 24, "LOUD"),
        (1, 5, "LOUD"),
        (1, 6, "NOISY"),
    ],
)
def test_x0_19_tiers_are_exact_fractions(flips: int, of: int, tier: str) -> None:
    assert flip_table(made.state_of(made.pairs(both=of - flips, down=flips)), "", "local", "remote").tier == tier


def test_b42_flip_or_flaky() -> None:
    table = {"t1": ["PP", "FF"], "t2": ["PF", "PP"], "t3": ["PP", "PP"], "t4": ["PP", ".P"]}
    state = made.state_of(table)
    found = flip_table(state, "", "local", "remote")
    assert [(task.mark, task.unstable) for task in found.tasks] == [
        ("flip", False), ("same", True), ("same", False), ("missing", False),
    ]  # fmt: skip
    assert found.rate == Fraction(1, 3)
    lines = flip_lines(state, found)
    assert lines[2] == "t2                       PASS 1/2  ~= PASS 2/2   same-box disagreement"
    assert lines[-1] == "tasks=3 flips=1 flip_rate=0.333 gate=0.10"


def test_b38_b43_without_a_scored_pair_rates_are_null_and_na_never_zero() -> None:
    state = made.state_of(made.pairs(void=2, todo=1))
    table = flip_table(state, "", "local", "remote")
    assert (table.rate, table.tier, table.lower, table.upper, table.excess) == (None, None, None, None, None)
    assert flip_lines(state, table)[-1] == "tasks=0 flips=0 flip_rate=n/a gate=0.10"
    body = flip_json(table)
    assert [body[key] for key in ("rate", "tier", "lower", "upper", "excess", "excess_p")] == [None] * 6


def test_a_pair_with_one_void_and_one_missing_side_is_void() -> None:
    table = flip_table(made.state_of({"t01": ["V", "."]}), "", "local", "remote")
    assert (table.planned, table.void, table.missing, table.complete) == (1, 1, 0, 0)


def test_both_causes_are_named_where_both_sides_are_void() -> None:
    rows = made.rows_of({"t01": ["V", "V"]})
    for row in rows:
        if isinstance(row, made.AttemptRow) and row.env == "remote":
            row.void, row.exit_code = "oracle_mutated", None
    state = fold_all(rows)
    lines = flip_lines(state, flip_table(state, "", "local", "remote"))
    assert lines[1] == "t01                      void      ?  void       not counted: infra (exit 127); oracle_mutated"


def test_flips_json_has_the_published_keys() -> None:
    state = made.state_of({"t1": ["PP", "FF"], "t2": ["PF", "P."]}, agent="A")
    body = json.loads(json.dumps(flip_json(flip_table(state, "A", "local", "remote"))))
    assert {
        "agent", "env_a", "env_b", "planned", "complete", "scored", "void", "missing", "flips", "down", "up", "rate",
        "tier", "lower", "upper", "excess", "excess_p", "tasks",
    } <= body.keys()  # fmt: skip
    assert (body["agent"], body["rate"], body["excess"]) == ("A", "1/2", "1")
    assert body["tasks"] == [
        {"task": "t1", "a": ["pass", "pass"], "b": ["fail", "fail"], "mark": "flip"},
        {"task": "t2", "a": ["pass", "fail"], "b": ["pass", None], "mark": "same"},
    ]


def test_another_attempt_may_be_declared() -> None:
    state = made.state_of({"t1": ["PF", "PP"]})
    assert flip_table(state, "", "local", "remote").flips == 0
    assert flip_table(state, "", "local", "remote", 1).flips == 1


def test_x0_16_names_that_are_not_in_the_ledger_are_refused_with_those_that_are() -> None:
    state = made.state_of({"t1": ["P", "P"]}, agent="A", envs=["local-container", "remote-free"])
    cases = [
        (("A", "local-container", "remote-fre"), 'env "remote-fre" not in ledger; known: local-container, remote-free'),
        (("B", "local-container", "remote-free"), 'agent "B" not in ledger; known: A'),
        (("A", "remote-free", "remote-free"), 'env "remote-free" cannot be compared with itself'),
    ]
    for (agent, a, b), words in cases:
        with pytest.raises(UsageError, match=words):
            flip_table(state, agent, a, b)
    with pytest.raises(UsageError, match="attempt 1 is not planned; 0 to 0 are"):
        flip_tables(state, attempt=1)
    with pytest.raises(UsageError, match="a flip needs two environments; the ledger has 1: solo"):
        flip_tables(made.state_of({"t1": ["P"]}, envs=["solo"]))


def test_tables_of_every_agent_and_pair_carry_a_title_and_end_in_the_published_line() -> None:
    state = made.state_of({"t1": ["P", "F", "P"]}, envs=["a", "b", "c"], agent="A")
    tables = flip_tables(state)
    assert [(table.env_a, table.env_b) for table in tables] == [("a", "b"), ("a", "c"), ("b", "c")]
    lines = flip_lines(state, tables[0], gate=Fraction(1, 2))
    assert lines[0] == "A: a vs b"
    assert lines[-3:] == [
        "post hoc: this gate was not the one registered before the data",
        "planned=1 scored=1 void=0 missing=0 flips=1 (1 down, 0 up)",
        "tasks=1 flips=1 flip_rate=1.000 gate=0.50",
    ]


def test_m11_excluded_tasks_are_no_pairs_and_stand_below_with_their_reason() -> None:
    state = made.state_of(made.pairs(both=3))
    for env in ("local", "remote"):
        fold(
            state, made.event_row("screened", task="t02", env=env, outcome="already_solved", reason="verify passes"), 0
        )
    table = flip_table(state, "", "local", "remote")
    assert (table.planned, table.excluded) == (2, 1)
    assert screening_lines(state) == [
        "set apart before the run, not counted: 1 of 3 tasks",
        "  t02: already_solved in local: verify passes",
    ]
    assert "  t02: already_solved in local: verify passes" in flip_lines(state, table)


def test_x0_29_columns_are_measured_in_cells() -> None:
    state = made.state_of({"T01_折扣规则": ["P", "F"], "n" * 200: ["P", "P"]}, envs=["本地", "remote"])
    lines = flip_lines(state, flip_table(state, "", "本地", "remote"))
    assert lines[0] == "task                     本地         remote"
    assert lines[1] == "T01_折扣规则             PASS 1/1  -> FAIL 0/1   flip"
    assert lines[2].startswith("n" * 200)


def test_every_void_cause_has_words_and_a_cure() -> None:
    assert all(void_words(cause) != void_words("no such cause") for cause in VOID_CAUSES)
    assert all(void_advice(cause) for cause in VOID_CAUSES)
