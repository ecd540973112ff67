"""Both sample studies through the command line, as a user starts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sample_places import SAMPLE
from test_sample_instrument import expected, outcome_of

if TYPE_CHECKING:
    from small_studies import Bench, Ran


def run(bench: Bench, *words: str) -> Ran:
    ledger = bench.next_ledger()
    return bench.cli("run", *words, "--headless", "--out", str(ledger), ledger=ledger)


def verdict(row: dict[str, Any]) -> str:
    if row["void"]:
        return f"void:{row['void']}"
    return "pass" if row["passed"] else "fail"


def test_instrument_tasks_become_what_they_must(bench: Bench) -> None:
    instrument = run(bench, str(SAMPLE / "instrument"))
    screened = instrument.events("screened")
    assert {(row["task"], row["env"]): row["outcome"] for row in screened} == {
        (row["task"], row["env"]): outcome_of(row["task"], "screen", row["env"]) for row in screened
    }
    assert {row["task"] for row in screened} == {row["task"] for row in expected()}
    found = {(row["task"], row["env"], row["agent"]): verdict(row) for row in instrument.attempts}
    assert found == {key: outcome_of(key[0], "attempt", key[1], key[2]) for key in found}
    assert {task for task, _, _ in found} == {row["task"] for row in expected() if row["stage"] == "attempt"}
    disagree = {row["task"] for row in expected() if row["stage"] == "replays"}
    for row in instrument.attempts:
        if row["void"] is None:
            assert (len(set(row["verify_runs"])) > 1) == (row["task"] in disagree)
    assert instrument.code == 5, "a flaky test is a result of its own"


def test_the_flip_of_the_sample_study_is_in_the_ledger(bench: Bench) -> None:
    ran = run(bench, str(SAMPLE), "--task", "t0[12]*")
    cells = {}
    for row in ran.attempts:
        cells.setdefault((row["task"], row["agent"]), {}).setdefault(row["env"], set()).add(verdict(row))
        assert row["tokens_in"] is None and row["tokens_out"] is None
        assert row["left_behind"] == []
    flips = {key for key, found in cells.items() if found["utc"] != found["nepal"]}
    assert flips == {("t02_office_stamps", "strong")}
    assert cells[("t02_office_stamps", "strong")] == {"utc": {"pass"}, "nepal": {"fail"}}
    assert cells[("t01_page_boundary", "weak")] == {"utc": {"pass"}, "nepal": {"pass"}}
    assert len(ran.attempts) == 2 * 2 * 2 * 2
