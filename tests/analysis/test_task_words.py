"""A task in words and its attempts in order, from rows alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from made_ledgers import attempt_row, cells, env_row, event_row, run_row, state_of, task_row

from tui_bench.analysis.fold import fold_all
from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.task_attempts import attempts_of, telling
from tui_bench.analysis.wording.attempt_text import attempt_notes
from tui_bench.analysis.wording.task_text import task_sentences
from tui_bench.ledger.rows import AnyRow

ENVS = ("utc", "nepal")


def two_agents(strong: Sequence[str], weak: Sequence[str], *more: AnyRow, attempts: int = 2) -> RunState:
    """Task `t` in both environments; letters per environment for each agent."""
    named: Mapping[str, Sequence[str]] = {"strong": strong, "weak": weak}
    rows: list[AnyRow] = [run_row(subject="agent", agents=list(named), attempts=attempts), task_row("t")]
    rows += [env_row(env) for env in ENVS]
    for agent, letters in named.items():
        rows += cells({"t": letters}, ENVS, agent)
    return fold_all([*rows, *more])


def said(state: RunState, task: str = "t") -> str:
    return " ".join(task_sentences(state, task))


def test_a_flip_of_attempts_that_agree_points_to_the_environment() -> None:
    words = said(two_agents(["PP", "FF"], ["PP", "PP"]))
    assert words.startswith("strong flips with the box: utc ✓✓, nepal ✗✗ (2 of 2 in each).")
    assert "Same-box attempts agree, which points to the environment, not to noise." in words
    assert "Agents disagree in nepal: weak passes, strong fails." in words


def test_a_flip_beside_same_box_disagreement_may_be_noise() -> None:
    words = said(two_agents(["PP", "FP"], ["FF", "FF"]))
    assert "Attempts in one box differ too (nepal), so it may be noise." in words
    assert "points to the environment" not in words


def test_one_verdict_a_box_is_never_called_the_environment() -> None:
    words = said(two_agents(["P", "F"], ["F", "F"], attempts=1))
    assert "cannot be told from noise" in words
    assert "points to the environment" not in words


def test_a_flaky_test_is_named_before_the_environment_is_blamed() -> None:
    state = state_of({"t": ["P", "F"]})
    assert "Flips with the box: local ✓, remote ✗ (1 of 1 in each)." in said(state)
    rows: list[AnyRow] = [run_row(), task_row("t"), env_row("local"), env_row("remote")]
    rows += [attempt_row("t", "local", 0, True), attempt_row("t", "remote", 0, False, verify_runs=[1, 0])]
    assert "Verify runs of one tree disagree (remote): a flaky test" in said(fold_all(rows))


@pytest.mark.parametrize(
    ("strong", "weak", "wanted"),
    [
        (["PP", "PP"], ["PP", "PP"], "Passes everywhere: 8 of 8 attempts."),
        (["FF", "FF"], ["FF", "FF"], "Fails everywhere, 8 attempts: nothing here tells"),
        (["PP", "PP"], ["FF", "FF"], "Agents disagree in utc and nepal: strong passes, weak fails."),
        (["PP", "PP"], ["PF", "PP"], "weak disagrees within one box: utc ✓✗."),
        (["VP", "PP"], ["PP", "PP"], "1 of 8 attempts void, infra (strong utc): the instrument failed; read the"),
        (["PP", "P."], ["PP", "PP"], "1 of 8 attempts left."),
    ],
)
def test_other_outcomes_have_words_of_their_own(strong: list[str], weak: list[str], wanted: str) -> None:
    assert wanted in said(two_agents(strong, weak))


def test_an_excluded_task_says_why_and_what_to_do() -> None:
    screened = event_row("screened", task="t", env="utc", outcome="already_solved", reason="verify passes untouched")
    words = said(two_agents([".", "."], [".", "."], screened))
    assert words.startswith("Set apart before the run, already_solved in utc: verify passes untouched.")
    assert "What to do: choose a source on which verify fails." in words
    assert "left" not in words


def test_what_runs_and_what_is_left_is_counted() -> None:
    started = event_row("started", task="t", env="utc", agent="weak", attempt_id="x", number=1, role="planned")
    assert "1 of 8 attempts running, 3 left." in said(two_agents(["PP", "PP"], [".", "."], started))
    assert "3 of 8 attempts not run." in said(two_agents(["PP", "PP"], ["P", "."], event_row("ended")))


def test_the_oracle_is_called_intact_only_where_every_attempt_was_scored() -> None:
    hashed = msgspec.structs.replace(task_row("t"), oracle_sha="o" * 64)
    rows: list[AnyRow] = [run_row(attempts=1), hashed, env_row("utc"), env_row("nepal")]
    whole = fold_all([*rows, attempt_row("t", "utc", 0, True), attempt_row("t", "nepal", 0, True)])
    assert "Oracle intact in all 2." in said(whole)
    broken = fold_all([*rows, attempt_row("t", "utc", 0, True), attempt_row("t", "nepal", 0, None)])
    assert "Oracle intact" not in said(broken)


def test_ascii_signs_come_from_the_caller() -> None:
    assert "utc PP, nepal FF" in " ".join(task_sentences(two_agents(["PP", "FF"], ["FF", "FF"]), "t", ".PFV"))


def replaced_rows() -> RunState:
    """An attempt lost twice and made a third time, a probe, and one that runs."""
    rows: list[AnyRow] = [run_row(attempts=2), task_row("t"), env_row("utc"), env_row("nepal")]
    rows += [attempt_row("t", "utc", 0, None, void="infra"), attempt_row("t", "utc", 0, None, replaces=5)]
    rows += [attempt_row("t", "utc", 0, True, replaces=6), attempt_row("t", "nepal", 2, False, role="probe")]
    rows.append(event_row("started", task="t", env="nepal", attempt_id="x", number=1, role="planned"))
    return fold_all(rows)


def test_replaced_rows_stand_before_the_one_that_counts_and_probes_last() -> None:
    found = attempts_of(replaced_rows(), "t")
    assert [(one.key[1], one.kind, one.number, one.code) for one in found] == [
        ("utc", "replaced", 0, Code.VOID), ("utc", "replaced", 0, Code.VOID), ("utc", "planned", 0, Code.PASS),
        ("utc", "planned", 1, Code.MISSING), ("nepal", "planned", 0, Code.MISSING),
        ("nepal", "planned", 1, Code.MISSING), ("nepal", "probe", 2, Code.FAIL),
    ]  # fmt: skip
    assert [one.offset for one in found] == [4, 5, 6, None, None, None, 7]
    assert found[5].running is not None
    assert len({one.name for one in found}) == len(found)


def test_an_attempt_keeps_its_name_from_queued_over_running_to_done() -> None:
    rows: list[AnyRow] = [run_row(attempts=1), task_row("t"), env_row("utc")]
    started = event_row("started", task="t", env="utc", attempt_id="x", number=0, role="planned")
    done = attempt_row("t", "utc", 0, True, attempt_id="x")
    names = {attempts_of(fold_all(rows[:3] + more), "t")[0].name for more in ([], [started], [started, done])}
    assert len(names) == 1


def test_a_row_that_is_being_made_again_is_shown_as_replaced_already() -> None:
    rows: list[AnyRow] = [run_row(attempts=1), task_row("t"), env_row("utc"), attempt_row("t", "utc", 0, None)]
    rows.append(event_row("started", task="t", env="utc", attempt_id="y", number=0, role="planned"))
    lost, now = attempts_of(fold_all(rows), "t")
    assert (lost.kind, lost.cause, now.kind, now.running is not None) == ("replaced", "infra", "planned", True)


def test_the_telling_attempt_of_a_cell() -> None:
    state = replaced_rows()
    found = attempts_of(state, "t")
    nepal, utc = telling(found, ("t", "nepal", "")), telling(found, ("t", "utc", ""))
    assert nepal is not None and nepal.running is not None
    assert utc is not None and (utc.number, utc.kind) == (0, "planned")
    assert telling(found, ("t", "elsewhere", "")) is None


def notes(passed: bool | None, **fields: Any) -> str:
    return "\n".join(attempt_notes(attempt_row("t", "utc", 0, passed, **fields)))


def test_a_void_says_what_was_seen_what_to_do_and_what_else() -> None:
    text = notes(
        None, void="oracle_mutated", void_causes=["oracle_mutated", "hygiene"], void_detail="oracle/test.py differs"
    )
    assert text.splitlines() == [
        "void, oracle_mutated: the oracle was changed during the attempt (oracle/test.py differs)",
        "what to do: read patch.diff",
        "also seen: hygiene",
    ]


def test_what_is_odd_about_an_attempt_is_said() -> None:
    text = notes(
        False, fail_reason="crashed", capped=True, dropped=["a", "b", "c", "d"], left_behind=["x.tmp"],
        usage_error="usage.json names another attempt", patch_error="3 paths cannot be read", verify_runs=[1, 0],
        agent_exit=3,
    )  # fmt: skip
    for wanted in (
        "fail, crashed: verify crashed", "capped: ", "dropped, not in the verified tree: a, b, c and 1 more path",
        "verify left behind: x.tmp", "usage unknown: usage.json names", "no patch: 3 paths", "ended with 1, 0",
        "the agent ended with 3",
    ):  # fmt: skip
        assert wanted in text
    assert notes(True) == ""
