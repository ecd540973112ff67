"""Attempts beyond the plan: probes nobody counts, and the registered re-run of the flips, in real runs."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_studies import Bench, Ran, write
from test_ctl import ask, until
from test_run_resume import rows_of, wait_for

BOXES = ({"name": "a", "env.BOX": "good"}, {"name": "b", "env.BOX": "bad"})


@pytest.fixture
def broken(bench: Bench, tmp_path: Path) -> Bench:
    """One task that the second environment breaks, one that it does not. Agents wait while `hold` is there."""
    bench.environments(*BOXES)
    bench.task("t1", verify='test -f fixed && [ "$BOX" = good ]')
    bench.task("t2", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": f"while [ -e {tmp_path}/hold ]; do sleep 0.05; done; touch fixed"})
    bench.save()
    return bench


@pytest.fixture
def half_done(bench: Bench, tmp_path: Path) -> Any:
    """A live run whose flip is known, while the other task's two attempts wait for the file `go`."""
    bench.environments(*BOXES)
    bench.task("t1", verify='test -f fixed && [ "$BOX" = good ]')
    bench.task("t2", verify="test -f fixed", repo={"slow": ""})
    wait = f"[ ! -e slow ] || while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; touch fixed"
    bench.agents({"name": "fixer", "command": wait, "timeout_s": 60})
    bench.save(jobs=4)
    process, ledger = bench.start("--headless")
    wait_for(ledger, process, 2, "attempt", task="t1")
    yield bench, process, ledger, tmp_path / "go"
    process.kill()
    process.communicate()


def coin(bench: Bench, folder: Path, *fails: int) -> None:
    """An agent that changes its verdict by itself: calls numbered in `fails` do nothing, all others solve it."""
    count = folder / "count"
    counting = f"n=$(cat {count} || echo 0); echo $((n+1)) >{count}"
    failing = " ".join(f"[ $n -eq {number} ] ||" for number in fails)
    bench.agents({"name": "coin", "command": f"{counting}; {failing} touch fixed"})
    bench.task("t1", verify="test -f fixed")


def resumed(bench: Bench, ran: Ran, *words: str) -> Ran:
    return bench.cli("resume", str(ran.ledger), "--headless", *words, ledger=ran.ledger)


def of_role(rows: list[dict[str, Any]], role: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == "attempt" and row["role"] == role]


def events(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] == "event" and row["event"] == name]


def test_r0_22_a_box_that_breaks_a_task_is_found_by_fresh_attempts_of_that_task_alone(broken: Bench) -> None:
    ran = broken.run("--headless")
    before = json.loads(broken.cli("flips", str(ran.ledger), "--json").out)["result"][0]
    assert before["reruns"] is None
    again = resumed(broken, ran, "--rerun-flips")
    fresh = of_role(again.rows, "rerun")
    assert {(row["task"], row["env"], row["attempt"]) for row in fresh} == {
        ("t1", env, number) for env in "ab" for number in range(1, 6)
    }
    (request,) = events(again.rows, "request")
    assert request["detail"] == {
        "do": "rerun_flips", "k": 5, "cells": [["t1", "a", "fixer", 1], ["t1", "b", "fixer", 1]],
    }  # fmt: skip
    starts = [row for row in events(again.rows, "started") if row["role"] == "rerun"]
    assert request["seq"] < starts[0]["seq"]
    assert [{row["env"] for row in starts[at : at + 2]} for at in range(0, 10, 2)] == [{"a", "b"}] * 5
    assert "re-run of 1 flipped task, 5 fresh attempts a side: box (p = 0.0079): t1 5/5 -> 0/5" in again.out
    assert "excess over all 2 pairs at least +0.50" in again.out
    assert again.rows[-1]["event"] == "ended"
    found = json.loads(broken.cli("flips", str(ran.ledger), "--json").out)["result"][0]["reruns"]
    assert (found["verdict"], found["registered"], found["made"], found["at_least"]) == ("box", 10, 10, "1/2")
    assert found["tasks"][0]["a"] == [5, 5, 0] and found["tasks"][0]["b"] == [0, 5, 0]
    assert broken.cli("fsck", str(ran.ledger)).code == 0


def test_nothing_of_the_plan_and_nothing_of_the_gate_changes_and_there_is_no_second_look(broken: Bench) -> None:
    ran = broken.run("--headless")
    again = resumed(broken, ran, "--rerun-flips", "2")
    assert again.code == ran.code
    assert ran.out.splitlines()[0] == again.out.splitlines()[0]
    assert "attempts: 4 of 4 planned; 3 pass, 1 fail, 0 void; 4 fresh attempts of flipped tasks\n" in again.out
    assert len(events(again.rows, "screened")) == len(events(again.rows[: len(ran.rows)], "screened"))
    table = broken.cli("flips", str(ran.ledger))
    assert table.out.splitlines()[-1] == "tasks=2 flips=1 flip_rate=0.500 gate=0.10"
    assert "re-run of 1 flipped task, 2 fresh attempts a side: undecided" in table.out
    before = ran.ledger.read_bytes()
    refused = resumed(broken, ran, "--rerun-flips", "9")
    assert refused.code == 2
    assert "registered for its re-run already" in refused.err
    assert "nothing to do" in resumed(broken, ran).err
    assert ran.ledger.read_bytes() == before


def test_an_agent_that_changes_its_mind_is_not_the_box(bench: Bench, tmp_path: Path) -> None:
    coin(bench, tmp_path, 1)
    bench.save(jobs=1)
    ran = bench.run("--headless")
    assert "1 of 1 tasks flipped" in ran.out
    again = resumed(bench, ran, "--rerun-flips")
    assert "5 fresh attempts a side: agent noise (p = 1.00): t1 5/5 = 5/5" in again.out


def test_a_probe_is_made_and_never_scored(broken: Bench) -> None:
    ran = broken.run("--headless")
    failed = next(row for row in ran.attempts if row["passed"] is False)
    for number in (1, 2):
        again = resumed(broken, ran, "--rerun", failed["attempt_id"])
        assert again.code == ran.code
        assert f"[probe] {failed['task']} b fixer #{number + 1}: fail" in again.err
    probes = of_role(again.rows, "probe")
    assert [(row["task"], row["env"], row["attempt"]) for row in probes] == [("t1", "b", 1), ("t1", "b", 2)]
    assert "; 2 probes, never scored" in again.out
    assert again.out.splitlines()[: len(ran.out.splitlines()) - 2] == ran.out.splitlines()[:-2]
    assert [row["detail"]["arg"] for row in events(again.rows, "request")] == [failed["attempt_id"]] * 2
    assert again.rows[-1]["event"] == "ended"
    assert again.log(probes[0], "agent_log") is not None
    behind = of_role(resumed(broken, ran, "--rerun-flips", "2").rows, "rerun")
    assert sorted((row["env"], row["attempt"]) for row in behind) == [("a", 1), ("a", 2), ("b", 3), ("b", 4)]
    assert broken.cli("fsck", str(ran.ledger)).code == 0


def test_what_cannot_be_done_is_refused_before_the_ledger_is_touched(broken: Bench) -> None:
    ran = broken.run("--headless")
    before = ran.ledger.read_bytes()
    for words, said in (
        (["--rerun", "feedfeedfeedfeed"], "not in the ledger"),
        (["--rerun-flips", "1"], "2 to 50"),
        (["--rerun-flips", "many"], "2 to 50"),
        (["--rerun-flips", "51"], "2 to 50"),
        (["--rerun-flips", "--rerun", "feedfeedfeedfeed"], "not allowed"),
    ):
        refused = resumed(broken, ran, *words)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert said in refused.err
    write(broken.folder / "tasks" / "t1" / "oracle" / "note.txt", "changed\n")
    assert "oracle" in resumed(broken, ran, "--rerun-flips").err
    assert ran.ledger.read_bytes() == before


def test_without_a_flip_there_is_nothing_to_run_again(bench: Bench) -> None:
    bench.task("t1", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.save()
    refused = resumed(bench, bench.run("--headless"), "--rerun-flips")
    assert refused.code == 2
    assert "no task flipped" in refused.err


def test_a_killed_re_run_is_finished_by_resume_exactly_as_registered(broken: Bench, tmp_path: Path) -> None:
    ran = broken.run("--headless")
    write(tmp_path / "hold", "")
    words = ("resume", str(ran.ledger), "--headless", "--rerun-flips", "3")
    process = subprocess.Popen(
        broken.command(*words), cwd=broken.folder, env=broken.variables, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for(ran.ledger, process, 2, "event", event="started", role="rerun")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (tmp_path / "hold").unlink()
    cut = broken.cli("watch", str(ran.ledger))
    assert "0 of 6 fresh attempts made, no verdict before the last" in cut.out
    again = resumed(broken, ran)
    fresh = of_role(again.rows, "rerun")
    lost = [row for row in fresh if row["void"] == "interrupted"]
    assert len(lost) == 2
    assert {row["replaces"] for row in fresh} == {None, *(row["seq"] for row in lost)}
    assert sorted((row["env"], row["attempt"]) for row in fresh if row["passed"] is not None) == [
        (env, number) for env in "ab" for number in (1, 2, 3)
    ]
    assert len(events(again.rows, "request")) == 1
    assert len(of_role(again.rows, "planned")) == 4
    assert "re-run of 1 flipped task, 3 fresh attempts a side: undecided (p = 0.10): t1 3/3 -> 0/3" in again.out
    assert broken.cli("fsck", str(ran.ledger)).code == 0
    assert "nothing to do" in resumed(broken, ran).err


def test_a_lost_probe_stays_lost(broken: Bench, tmp_path: Path) -> None:
    ran = broken.run("--headless")
    write(tmp_path / "hold", "")
    words = ("resume", str(ran.ledger), "--headless", "--rerun", ran.attempts[0]["attempt_id"])
    process = subprocess.Popen(
        broken.command(*words), cwd=broken.folder, env=broken.variables, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for(ran.ledger, process, 1, "event", event="started", role="probe")
    busy = resumed(broken, ran, "--rerun-flips")
    assert busy.code == 2 and str(process.pid) in busy.err
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (tmp_path / "hold").unlink()
    again = resumed(broken, ran)
    assert [row["void"] for row in of_role(again.rows, "probe")] == ["interrupted"]
    assert again.code == ran.code
    assert "nothing to do" in resumed(broken, ran).err


def test_a_stopped_run_runs_its_flips_again_and_nothing_else_until_it_is_resumed(half_done: Any) -> None:
    bench, process, ledger, go = half_done
    process.terminate()
    process.communicate(timeout=20)
    write(go, "")
    ran = Ran(0, "", "", ledger)
    again = resumed(bench, ran, "--rerun-flips", "4")
    assert len(of_role(again.rows, "rerun")) == 8
    assert len(of_role(again.rows, "planned")) == 4
    last = again.rows[-1]
    assert (last["event"], last["outcome"]) == ("ended", "partial")
    assert "planned attempts left out: 2" in last["reason"]
    assert "box (p = 0.029): t1 4/4 -> 0/4" in again.out
    whole = resumed(bench, ran)
    assert "attempts: 4 of 4 planned; 3 pass, 1 fail, 0 void, 2 replaced" in whole.out
    assert len(of_role(whole.rows, "rerun")) == 8
    assert whole.rows[-1]["outcome"] == "complete"


def test_a_live_run_takes_both_requests(half_done: Any) -> None:
    bench, process, ledger, go = half_done
    done = next(row for row in rows_of(ledger) if row["kind"] == "attempt" and row["env"] == "b")
    assert ask(bench, ledger, "rerun", done["attempt_id"])["ok"]
    wait_for(ledger, process, 1, "attempt", role="probe", env="b", attempt=1)
    ask(bench, ledger, "rerun_flips", "2")
    wait_for(ledger, process, 4, "attempt", role="rerun", task="t1")
    refused = bench.cli("ctl", str(ledger), "rerun_flips")
    assert refused.code == 2 and "already" in refused.err
    write(go, "")
    out, _ = process.communicate(timeout=60)
    assert b"2 fresh attempts a side: undecided (p = 0.33): t1 2/2 -> 0/2" in out
    assert b"4 fresh attempts of flipped tasks; 1 probe, never scored" in out
    asked = [row["detail"]["do"] for row in events(rows_of(ledger), "request")]
    assert asked == ["rerun", "rerun_flips"]
    assert bench.cli("fsck", str(ledger)).code == 0


def test_a_probe_goes_before_all_that_waits(broken: Bench, tmp_path: Path) -> None:
    write(tmp_path / "hold", "")
    process, ledger = broken.start("--headless", "--jobs", "1")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    (running,) = events(rows_of(ledger), "started")
    assert ask(broken, ledger, "rerun", running["attempt_id"])["queued"] == 4
    for words in (["rerun"], ["rerun", "nobody"], ["rerun_flips", "1"], ["rerun_flips", "x"], ["rerun_flips"]):
        refused = broken.cli("ctl", str(ledger), *words)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    (tmp_path / "hold").unlink()
    process.communicate(timeout=60)
    starts = events(rows_of(ledger), "started")
    assert [row["role"] for row in starts] == ["planned", "probe", "planned", "planned", "planned"]
    same = ("task", "env", "agent")
    assert [starts[1][name] for name in same] == [running[name] for name in same]


def test_a_request_at_rest_is_staffed_when_the_run_goes_on(half_done: Any) -> None:
    bench, process, ledger, _ = half_done
    ask(bench, ledger, "pause")
    assert ask(bench, ledger, "rerun_flips", "3")["queued"] == 6
    ask(bench, ledger, "resume")
    wait_for(ledger, process, 6, "attempt", role="rerun")
    ask(bench, ledger, "stop")
    process.communicate(timeout=20)
    refused = bench.cli("ctl", str(ledger), "rerun_flips")
    assert refused.code == 2
    until(lambda: events(rows_of(ledger), "stopped"))
