"""Re-run flips: what is tested, what is said, and that neither the plan nor the gate ever feels it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

import made_ledgers as made
import pytest

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.flip import flip_table
from tui_bench.analysis.fold import fold, fold_all
from tui_bench.analysis.gate import exit_of
from tui_bench.analysis.reruns import Rerun, rerun_json, rerun_of, reruns
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording import flip_lines, rerun_lines
from tui_bench.ledger.registered import Registered, details, registered
from tui_bench.ledger.rows import ROW_LIMIT, AnyRow

BOXES = ("local", "remote")
AGENT = "strong"


def registration(tasks: Sequence[str], k: int, *, envs: Sequence[str] = BOXES, agent: str | None = AGENT) -> AnyRow:
    cells = [[task, env, agent, 7] for task in tasks for env in envs]
    return made.event_row("request", detail={"do": "rerun_flips", "k": k, "cells": cells})


def fresh_rows(task: str, env: str, letters: str, agent: str | None = AGENT) -> Iterator[AnyRow]:
    for number, letter in enumerate(letters, 7):
        yield made.attempt_row(
            task, env, number, made.LETTERS.get(letter), agent=agent, role="rerun", attempt_id=f"{task}{env}{number}"
        )


def again(
    fresh: Mapping[str, tuple[str, ...]], *, k: int = 5, both: int = 11, up: bool = False, agent: str | None = AGENT
) -> RunState:
    """`both` quiet tasks, and one flipped task for each of `fresh` with its fresh letters in either box."""
    sides = ["F", "P"] if up else ["P", "F"]
    table = made.pairs(both=both) | {name: list(sides) for name in fresh}
    state = made.state_of(table, agent=agent)
    fold(state, registration(list(fresh), k, agent=agent))
    for task, letters in fresh.items():
        for env, side in zip(BOXES, letters, strict=True):
            for row in fresh_rows(task, env, side, agent):
                fold(state, row)
    return state


def only(state: RunState, agent: str = AGENT) -> Rerun:
    (one,) = reruns(state, agent)
    return one


def letters(passes: int, k: int = 5) -> str:
    return "P" * passes + "F" * (k - passes)


def test_a_broken_box_is_named_with_its_exact_p_and_a_lower_bound() -> None:
    state = again({"t99": ("PPPPP", "FFFFF")})
    one = only(state)
    assert one.excess is not None and one.excess.p_exact == Fraction(2, 252)
    assert (one.verdict, one.at_least) == ("box", Fraction(1, 12))
    assert banner(state)[:3] == [
        "GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)  local vs remote  tier NOISY",
        "  re-run of 1 flipped task, 5 fresh attempts a side: box (p = 0.0079): t99 5/5 -> 0/5",
        "  excess over all 12 pairs at least +0.08: unflipped tasks were not run again",
    ]


@pytest.mark.parametrize(
    ("fresh", "verdict", "step"),
    [
        (("PPPPP", "FFFFF"), "box (p = 0.0079): t99 5/5 -> 0/5",
         "the box dominates: fix the environment, publish nothing about models yet"),
        (("PPPPP", "PPPPP"), "agent noise (p = 1.00): t99 5/5 = 5/5",
         "by the re-run the flips are the agent's own noise: more attempts"),
        (("PPPFF", "PPFFF"), "undecided (p = 1.00): t99 3/5 -> 2/5",
         "the flips may be the agent's own noise, the re-run did not decide: more attempts"),
    ],
)  # fmt: skip
def test_a_re_run_stands_right_below_the_gate_and_the_rest_agrees_with_it(
    fresh: tuple[str, str], verdict: str, step: str
) -> None:
    table = {"t1": ["PF", "PF"], "t2": ["PP", "PP"], "t3": ["PP", "PP"], "t99": ["PP", "FP"]}
    state = made.state_of(table, agent=AGENT)
    fold(state, registration(["t99"], 5))
    for env, side in zip(BOXES, fresh, strict=True):
        for row in fresh_rows("t99", env, side):
            fold(state, row)
    lines = banner(state)
    assert lines[0] == "GATE SHUT   1 of 4 tasks flipped; 1.5 expected from the agent alone"
    assert lines[1] == f"  re-run of 1 flipped task, 5 fresh attempts a side: {verdict}"
    below = [line for line in lines[2:] if not line.startswith("  excess over all")]
    assert below[0].startswith("  same box 0.38, across 0.25, excess -0.12 (p = ")
    assert below[0].endswith("): not shown to be the box in the planned attempts")
    assert [line for line in below if "next:" in line] == [f"  next: tier LOUD - {step}"]


def test_a_re_run_under_another_state_follows_the_line_that_counts_the_flips() -> None:
    facts = {"local": {"cpus": "2"}, "remote": {"cpus": "4"}}
    rows = made.rows_of(
        made.pairs(both=11, down=1), agent=AGENT, env_facts=facts, dimension="runtime", dimension_facts=[]
    )
    rows += [registration(["t12"], 5), *fresh_rows("t12", "local", "PPPPP"), *fresh_rows("t12", "remote", "FFFFF")]
    assert banner(fold_all(rows))[:4] == [
        "CONFOUNDED    envs differ in 1 undeclared dimension: cpus",
        "  declared: runtime. The flip count cannot be assigned to it",
        "  GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)  local vs remote  tier NOISY",
        "  re-run of 1 flipped task, 5 fresh attempts a side: box (p = 0.0079): t12 5/5 -> 0/5",
    ]


def test_the_same_verdicts_again_are_noise_of_whoever_can_make_it() -> None:
    assert only(again({"t99": ("PPPPP", "PPPPP")})).verdict == "agent noise"
    assert only(again({"t99": ("FFFFF", "FFFFF")})).verdict == "agent noise"
    assert only(again({"t99": ("PPPFF", "FPPPF")})).verdict == "agent noise"
    assert only(again({"t99": ("PPPPP", "PPPPP")}, agent=None), "").verdict == "test noise"


def test_a_small_difference_or_few_attempts_are_undecided() -> None:
    assert only(again({"t99": ("PPPFF", "PPFFF")})).verdict == "undecided"
    assert only(again({"t99": ("PPPP", "PPPP")}, k=4)).verdict == "undecided"
    state = again({"t99": ("PPP", "FFF")}, k=3)
    assert rerun_lines(only(state), 0.05) == [
        "re-run of 1 flipped task, 3 fresh attempts a side: undecided (p = 0.10): t99 3/3 -> 0/3",
        "so few fresh attempts cannot show a box: the smallest p they reach is 0.10",
    ]


def test_many_coins_are_noise_though_each_alone_is_undecided() -> None:
    coins = {f"c{index}": ("PPPFF", "PPFFF") for index in range(5)}
    one = only(again(coins))
    assert one.verdict == "agent noise"
    assert one.decides_p is not None and one.decides_p <= 0.05


def test_a_difference_against_the_flip_is_the_box_too() -> None:
    one = only(again({"t99": ("FFFFF", "PPPPP")}))
    assert one.verdict == "box"
    assert one.tasks[0].as_flipped == 0


def test_the_direction_of_the_flip_is_that_of_the_planned_attempts() -> None:
    down, up = only(again({"t99": ("PPPPF", "FFFFF")})), only(again({"t99": ("FFFFF", "PPPPF")}, up=True))
    assert (down.tasks[0].down, up.tasks[0].down) == (True, False)
    assert down.tasks[0].as_flipped == up.tasks[0].as_flipped == 9
    assert down.p == up.p


@pytest.mark.parametrize("counts", [(5, 0), (4, 1), (5, 2), (3, 3), (2, 4)])
def test_p_is_the_share_of_relabellings_that_separate_as_much(counts: tuple[int, int]) -> None:
    """Every choice of five of ten verdicts for the first box, counted one by one."""
    a, b = counts
    one = only(again({"t99": (letters(a), letters(b))}))
    total = a + b
    verdicts = [1] * total + [0] * (10 - total)
    splits = [sum(verdicts[i] for i in chosen) for chosen in combinations(range(10), 5)]
    share = Fraction(sum(abs(2 * first - total) >= abs(a - b) for first in splits), len(splits))
    assert one.excess is not None and one.excess.p_exact == share


def test_two_tasks_are_pooled() -> None:
    one = only(again({"t98": ("PPPP", "FFFF"), "t99": ("PPPP", "PPFF")}, k=4))
    assert [task.p for task in one.tasks] == pytest.approx([2 / 70, 30 / 70])
    assert one.excess is not None and one.excess.tasks == 2
    assert one.at_least == (one.excess.excess * 2 / 13 if one.verdict == "box" else None)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_equal_boxes_are_called_a_box_at_most_one_time_in_twenty(rate: float) -> None:
    """Level by enumeration: selection by the first attempt does no harm, since only fresh ones are tested."""
    called = sum(
        chance(a, 5, rate) * chance(b, 5, rate)
        for a, b in product(range(6), repeat=2)
        if only(again({"t99": (letters(a), letters(b))}, both=0)).verdict == "box"
    )
    assert called <= 0.05


def test_a_box_that_decides_a_task_is_rarely_called_noise() -> None:
    """Power of the rule for noise by enumeration, over all pass rates that lie one half apart."""
    noise = [
        (a, b)
        for a, b in product(range(6), repeat=2)
        if only(again({"t99": (letters(a), letters(b))}, both=0)).verdict == "agent noise"
    ]
    worst = max(
        sum(chance(a, 5, 0.5 + low) * chance(b, 5, low) for a, b in noise) for low in (i / 100 for i in range(51))
    )
    assert 0.05 < worst < 0.08


def test_the_bound_holds_for_every_mixture_of_tasks() -> None:
    """P(X <= 3/4 binomial) against the true distribution where one box decides more in one task than in the other."""
    rates = [(1.0, 0.0), (0.5, 0.5), (0.9, 0.4), (1.0, 0.5), (0.75, 0.25)]
    for first, second in product(rates, repeat=2):
        if (first[0] - first[1]) + (second[0] - second[1]) < 1:
            continue
        spread = [1.0]
        for good in (first[0], 1 - first[1], second[0], 1 - second[1]):
            spread = convolved(spread, [chance(x, 5, good) for x in range(6)])
        for seen in range(14):
            bound = sum(chance(x, 20, 0.75) for x in range(seen + 1))
            assert sum(spread[: seen + 1]) <= bound + 1e-12


def chance(x: int, n: int, rate: float) -> float:
    return math.comb(n, x) * rate**x * (1 - rate) ** (n - x)


def convolved(first: Sequence[float], second: Sequence[float]) -> list[float]:
    total = [0.0] * (len(first) + len(second) - 1)
    for (i, x), (j, y) in product(enumerate(first), enumerate(second)):
        total[i + j] += x * y
    return total


def test_nothing_is_tested_before_the_last_attempt() -> None:
    state = again({"t99": ("PPPPP", "FFFF")})
    one = only(state)
    assert (one.verdict, one.p, one.excess, one.made, one.registered) == (None, None, None, 9, 10)
    assert banner(state)[1] == "  re-run of 1 flipped task: 9 of 10 fresh attempts made, no verdict before the last"
    assert rerun_json(one)["verdict"] is None


def test_voids_shorten_a_side_and_are_counted() -> None:
    state = again({"t99": ("PPPPP", "FFFFV")})
    line = rerun_lines(only(state), 0.05)[0]
    assert "5 fresh attempts a side, 1 void: box" in line and "t99 5/5 -> 0/4" in line
    lost = only(again({"t99": ("PPPPP", "VVVVF")}))
    assert (lost.verdict, lost.p) == ("undecided", None)
    assert "no task with 2 verdicts a side" in rerun_lines(lost, 0.05)[0]


def test_an_attempt_made_again_counts_once() -> None:
    state = again({"t99": ("PPPPP", "FFFFV")})
    fold(state, made.attempt_row("t99", "remote", 11, False, agent=AGENT, role="rerun", replaces=40))
    one = only(state)
    assert (one.tasks[0].b.scored, one.tasks[0].b.void, one.made) == (5, 0, 10)
    assert state.counts.reruns == 10


def test_gate_exit_and_summary_do_not_feel_fresh_attempts_and_probes() -> None:
    before = made.state_of(made.pairs(both=11) | {"t99": ["P", "F"]}, agent=AGENT)
    after = again({"t99": ("PPPPP", "PPPPP")})
    fold(after, made.attempt_row("t99", "remote", 20, True, agent=AGENT, role="probe"))
    was, now = flip_table(before, AGENT, *BOXES), flip_table(after, AGENT, *BOXES)
    assert was == now
    assert exit_of(gates(before)) == exit_of(gates(after))
    assert (after.done, after.planned, after.counts.probes) == (before.done, before.planned, 1)
    assert flip_lines(before, was)[-2:] == flip_lines(after, now)[-2:]
    assert banner(before)[0] == banner(after)[0]


def test_what_is_done_is_not_recommended_any_more() -> None:
    before = made.state_of(made.pairs(both=11) | {"t99": ["P", "F"]}, agent=AGENT)
    assert any(line.endswith("re-run the flips") for line in banner(before))
    assert not any(line.endswith("re-run the flips") for line in banner(again({"t99": ("PPPPP", "FFFFF")})))


def test_a_flip_that_came_after_the_registration_is_not_passed_over_in_silence() -> None:
    rows = made.rows_of(made.pairs(both=10, down=2), agent=AGENT)
    rows += [registration(["t11"], 5), *fresh_rows("t11", "local", "PPPPP"), *fresh_rows("t11", "remote", "FFFFF")]
    assert rerun_lines(only(fold_all(rows)), 0.05)[0].startswith("re-run of 1 of 2 flipped tasks, ")


def test_three_boxes_share_attempts_and_are_adjusted() -> None:
    envs = ("one", "two", "three")
    rows = made.rows_of({"t99": ["P", "F", "F"]}, envs=envs, agent=AGENT)
    rows.append(registration(["t99"], 5, envs=envs))
    for env, side in zip(envs, ("PPPPP", "FFFFF", "PPPPF"), strict=True):
        rows += fresh_rows("t99", env, side)
    state = fold_all(rows)
    first, second = reruns(state, AGENT)
    assert [(one.env_a, one.env_b, one.verdict) for one in (first, second)] == [
        ("one", "two", "box"), ("one", "three", "undecided"),
    ]  # fmt: skip
    assert first.p == pytest.approx(2 * 2 / 252)
    shown = [line for line in banner(state) if "re-run of" in line]
    assert "one vs two: re-run of 1 flipped task" in shown[0] and "Holm" in shown[0]


def test_a_table_finds_its_re_run_in_either_order_and_at_the_declared_attempt_only() -> None:
    state = again({"t99": ("PPPPP", "FFFFP")})
    there, back = (rerun_of(state, flip_table(state, AGENT, *pair)) for pair in (BOXES, BOXES[::-1]))
    assert there is not None and back is not None
    assert (there.tasks[0].a, there.tasks[0].b) == (back.tasks[0].b, back.tasks[0].a)
    assert there.p == back.p
    lines = flip_lines(state, flip_table(state, AGENT, *BOXES))
    assert lines[-1].startswith("tasks=12 flips=1 flip_rate=0.083")
    assert any(line.startswith("re-run of 1 flipped task") for line in lines)
    two = made.state_of({"t99": ["PF", "FP"]}, agent=AGENT)
    fold(two, registration(["t99"], 2))
    assert rerun_of(two, flip_table(two, AGENT, *BOXES, attempt=1)) is None


def test_a_run_that_ended_without_the_rest_of_its_plan_says_so() -> None:
    rows = made.rows_of(made.pairs(down=1, todo=1), agent=AGENT, over=False)
    state = fold_all([*rows, made.event_row("ended", outcome="partial", reason="planned attempts left out: 1")])
    assert "  ended after 3 of 4 attempts: planned attempts left out: 1" in banner(state)


def test_fresh_rows_that_nobody_registered_give_no_verdict() -> None:
    state = made.state_of({"t99": ["P", "F"]}, agent=AGENT)
    for row in fresh_rows("t99", "local", "PPPPP"):
        fold(state, row)
    assert reruns(state, AGENT) == []


@pytest.mark.parametrize(
    "detail",
    [
        None, {}, {"do": "jobs", "arg": 4}, {"do": "rerun_flips"}, {"do": "rerun_flips", "k": "5", "cells": []},
        {"do": "rerun_flips", "k": 5, "cells": "all"}, {"do": "rerun_flips", "k": True, "cells": [["t", "e", None, 1]]},
        {"do": "rerun_flips", "k": 5, "cells": [["t", "e", None], ["t", None, "a", 1], ["t", "e", 3, 1], 4]},
    ],
)  # fmt: skip
def test_what_is_no_registration_registers_nothing(detail: dict[str, object] | None) -> None:
    row = made.event_row("request", detail=detail)
    assert registered(row) == ()
    assert fold_all([row]).registered == {}


def test_a_registration_of_any_size_keeps_below_the_limit_of_a_row() -> None:
    cells = [Registered("長" * 190 + str(index), "local", "", 1, 5) for index in range(200)]
    rows = [made.event_row("request", detail=one) for one in details(cells, 5)]
    assert len(rows) > 1
    assert [cell for row in rows for cell in registered(row)] == cells
    assert all(len(str(row.detail).encode()) < ROW_LIMIT - 4096 for row in rows)
