"""What the banner says of several agents: their standing, and a gate for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import made_ledgers as made
import pytest

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.fold import fold, fold_all
from tui_bench.analysis.gate import exit_of
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording.numbers import cells


def two_agents(over: bool, weak: Mapping[str, Sequence[str]], strong: Mapping[str, Sequence[str]]) -> RunState:
    tasks = [f"t{i:02}" for i in range(12)]
    rows = [made.run_row(subject="agent", agents=["strong", "weak"], attempts=2), *(made.task_row(t) for t in tasks)]
    rows += [made.env_row("utc"), made.env_row("ktm")]
    base = {task: ["PP", "PP"] for task in tasks}
    rows += made.cells({**base, **strong}, ["utc", "ktm"], "strong")
    rows += made.cells({**base, **weak}, ["utc", "ktm"], "weak")
    return fold_all([*rows, *([made.event_row("ended")] if over else [])])


@pytest.mark.parametrize(
    ("agent", "first"),
    [
        ("nop", "agent nop: FLAKY TEST    i04_every_other_call, +2 more: verdicts differ"),
        ("opencode-large-model-7", "agent opencode-large-mode…: FLAKY TEST    i04_every_other_call, +2 more"),
    ],
)
def test_a_flaky_test_of_one_of_two_agents_is_named_before_the_rest_of_the_sentence(agent: str, first: str) -> None:
    tasks = ["i04_every_other_call", "i05_clock", "i06_port"]
    rows = [made.run_row(agents=[agent, "b"], attempts=2, subject="agent", rule={"verify_replays": 2})]
    rows += [*(made.task_row(task) for task in tasks), made.env_row("local"), made.env_row("remote")]
    for name in (agent, "b"):
        rows += made.cells({task: ["PP", "PP"] for task in tasks}, ["local", "remote"], name)
    for row in rows:
        if isinstance(row, made.AttemptRow) and row.agent == agent:
            row.verify_runs = [0, 1, 0]
    state = fold_all([*rows, made.event_row("ended")])
    lines = [*gates(state)[0].lines]
    assert lines[:2] == [
        first,
        "  i04_every_other_call, i05_clock, i06_port: same tree, same box, different verdicts (verify 3x)",
    ]
    assert cells(first) <= 80


@pytest.mark.parametrize("over", [True, False])
def test_a_damaged_ledger_of_two_agents_begins_with_the_damage_and_ranks_nobody(over: bool) -> None:
    state = two_agents(over, {f"t{i:02}": ["FF", "FF"] for i in range(6)}, {})
    state.damage.append("line 41 is not a row")
    lines = banner(state)
    assert [line for line in lines if not line.startswith("  ")] == [
        "STOPPED       ledger damaged: line 41 is not a row",
        "agent strong: STOPPED       ledger damaged: line 41 is not a row",
        "agent weak: STOPPED       ledger damaged: line 41 is not a row",
    ]
    assert not any("WINNER" in line or "mid-p" in line for line in lines)
    assert exit_of(gates(state)) == 4


def test_two_agents_begin_with_the_standing_and_have_a_gate_each() -> None:
    flip = {"t00": ["PP", "FF"]}
    lost = {f"t{i:02}": ["FF", "FF"] for i in range(3, 8)} | {f"t{i:02}": ["..", ".."] for i in range(9, 12)}
    state = two_agents(False, lost, flip)
    lines = banner(state)
    assert lines[0].startswith("NO WINNER YET  strong 5 : weak 0 of 9 pairs, 3 left, ")
    assert lines[0].endswith("; box moved 1 task")
    assert "agent strong: GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)  tier NOISY" in lines
    assert "  utc vs ktm: 1 PASS->FAIL, 0 FAIL->PASS" in lines
    assert "agent weak: GATE ...      9 of 12 pairs, 0 flips - opens if at most 1 task flips" in lines
    assert [one.line for one in gates(state)] == [line for line in lines if "GATE" in line]
    assert all(cells(line) <= 80 for line in lines)
    assert exit_of(gates(state)) == 3


def test_a_winner_needs_closed_pairs_open_gates_the_test_and_a_lead_above_the_box() -> None:
    five = {f"t{i:02}": ["FF", "FF"] for i in range(5)}
    assert (
        banner(two_agents(True, five, {}))[0]
        == "WINNER strong  strong 5 : weak 0 of 12 pairs, mid-p = 0.031; box moved 0 tasks"
    )
    four = {f"t{i:02}": ["FF", "FF"] for i in range(4)}
    assert banner(two_agents(True, four, {}))[0].startswith("NO WINNER  strong 4 : weak 0 of 12 pairs, mid-p = 0.062")
    shut = {"t10": ["PP", "FF"], "t11": ["PP", "FF"]}
    assert banner(two_agents(True, five, shut))[0].startswith("NO WINNER  strong 5 : weak 0")


def test_the_standing_is_not_final_before_the_run_is_over() -> None:
    """All declared pairs are in and significant: only the end of the run makes a winner of them."""
    six = {f"t{i:02}": ["FF", "FF"] for i in range(6)}
    later = {"t11": ["P.", "P."]}
    running = two_agents(False, six | later, later)
    standing = "strong 6 : weak 0 of 12 pairs"
    assert banner(running)[0] == f"NO WINNER YET  {standing}, 4 attempts left; box moved 0 tasks"
    fold(running, made.event_row("paused"), 0)
    assert banner(running)[0] == f"NO WINNER YET  {standing}, 4 attempts left; box moved 0 tasks"
    whole = two_agents(False, six, {})
    assert banner(whole)[0] == f"NO WINNER YET  {standing}, run not over; box moved 0 tasks"
    fold(whole, made.event_row("ended"), 0)
    assert banner(whole)[0] == f"WINNER strong  {standing}, mid-p = 0.016; box moved 0 tasks"


def test_a_long_agent_name_closes_the_gap_before_anything_is_cut() -> None:
    state = made.state_of(made.pairs(both=3, todo=9), agent="opencode-large", over=False)
    state.agents.append("b")
    one = gates(state)[0]
    assert one.line == "agent opencode-large: GATE ...  3 of 12 pairs, 0 flips - opens if at most 1 tas…"
    assert one.lines[1] == "  agent opencode-large: GATE ...  3 of 12 pairs, 0 flips - opens if at most 1 task flips"
