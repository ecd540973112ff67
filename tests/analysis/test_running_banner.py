"""What the banner says of a run that is not over, or was stopped before its end."""

from __future__ import annotations

import made_ledgers as made
import pytest
from test_gate_banner import has, verdict

from tui_bench.analysis.banner import banner
from tui_bench.analysis.fold import fold_all


def test_b41_a_partial_run_never_turns_green() -> None:
    state = made.state_of(made.pairs(both=4, down=1, todo=7), over=False)
    assert banner(state)[0] == "GATE ...      5 of 12 pairs, 1 flip - opens only if no further task flips"
    assert verdict(state) == ("running", 3)
    for done in range(12):
        early = made.state_of(made.pairs(both=done, todo=12 - done), over=False, attempts=1)
        assert verdict(early) == ("running", 3)


def test_b41_all_first_rounds_in_is_not_the_end_of_the_run() -> None:
    table = {f"t{i:02}": ["P.", "P."] for i in range(12)}
    state = made.state_of(table, over=False)
    assert banner(state)[0] == "GATE ...      12 of 12 pairs, 0 flips - 24 attempts of other rounds left"
    assert verdict(state) == ("running", 3)
    assert verdict(made.state_of({name: ["PP", "PP"] for name in table}, over=False)) == ("open", 0)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ({"both": 3, "todo": 9}, "3 of 12 pairs, 0 flips - opens if at most 1 task flips"),
        ({"both": 1, "todo": 4}, "1 of 5 pairs, 0 flips - opens only if no task flips"),
        ({"both": 5, "down": 2, "todo": 5}, "7 of 12 pairs, 2 flips - cannot open any more"),
        ({"both": 30, "down": 2, "todo": 28}, "32 of 60 pairs, 2 flips - opens if at most 4 more tasks flip"),
        ({"both": 11, "todo": 1}, "11 of 12 pairs, 0 flips - opens whatever the last 1 pair may show"),
        ({"both": 17, "todo": 2}, "17 of 19 pairs, 0 flips - opens if at most 1 task flips"),
    ],
)
def test_outlook_while_running(pairs: dict[str, int], words: str) -> None:
    state = made.state_of(made.pairs(**pairs), over=False)
    assert banner(state)[0] == f"GATE ...      {words}"
    assert verdict(state) == ("running", 3)


@pytest.mark.parametrize(("attempts", "saved"), [(1, 10), (2, 20)])
def test_a_shut_that_nothing_can_change_is_final_and_saves_the_rest(attempts: int, saved: int) -> None:
    kinds = [["P", "P"]] * 5 + [["P", "F"]] * 2 + [[".", "."]] * 5
    table = {f"t{index:02}": [letter * attempts for letter in pair] for index, pair in enumerate(kinds)}
    state = made.state_of(table, over=False, rule={"min_pairs": "1/2"})
    has(state, [
        f"GATE SHUT     final after 7 of 12 pairs (2 flips) - stop saves {saved} attempts",
        "  rate not estimated: stopped early",
    ])  # fmt: skip
    assert verdict(state) == ("shut", 1)


def test_a_no_verdict_that_nothing_can_change_is_said_at_once() -> None:
    state = made.state_of(made.pairs(both=2, void=2, todo=8), over=False)
    assert banner(state)[0] == "NO VERDICT    2 of 12 pairs scored, 11 needed (2 void, 8 missing)"
    assert verdict(state) == ("no_verdict", 3)


def test_a_stopped_run_is_judged_by_its_pairs_and_says_that_it_was_stopped() -> None:
    rows = made.rows_of(made.pairs(both=11, todo=1), over=False)
    state = fold_all([*rows, made.event_row("stopped", reason="operator"), made.event_row("ended")])
    assert verdict(state) == ("open", 0)
    assert "  stopped after 23 of 24 attempts: operator" in banner(state)
    early = made.rows_of(made.pairs(both=5, todo=7), over=False)
    assert verdict(fold_all([*early, made.event_row("stopped")]))[0] == "no_verdict"
