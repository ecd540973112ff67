"""Requests to a running run, as a script makes them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from small_studies import Bench, write
from test_run_resume import rows_of, wait_for


@pytest.fixture
def running(bench: Bench, tmp_path: Path) -> Any:
    """A run of 12 attempts, two at once, whose agents wait for one file each time it is there."""
    for number in range(6):
        bench.task(f"t{number}", verify="test -f fixed")
    go = tmp_path / "go"
    command = f"while [ ! -e {go} ]; do sleep 0.05; done; touch fixed"
    bench.agents({"name": "waiting", "command": command, "timeout_s": 60})
    bench.save(jobs=2)
    process, ledger = bench.start("--headless")
    wait_for(ledger, process, 2, "event", event="phase", phase="agent")
    yield bench, process, ledger, go
    process.kill()
    process.communicate()


def ask(bench: Bench, ledger: Path, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(bench.cli("ctl", str(ledger), *words, check=[0]).out)
    return answer


def until(condition: Any) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started(ledger: Path) -> int:
    return sum(row["kind"] == "event" and row["event"] == "started" for row in rows_of(ledger))


def test_status_pause_jobs_and_resume(running: Any) -> None:
    bench, process, ledger, go = running
    assert ask(bench, ledger, "status") == {
        "ok": True, "id": "1", "error": None, "state": "running", "running": 2, "queued": 10, "jobs": 2,
    }  # fmt: skip
    assert ask(bench, ledger, "pause")["state"] == "paused"
    write(go, "")
    until(lambda: ask(bench, ledger, "status")["running"] == 0)
    assert started(ledger) == 2
    go.unlink()
    assert ask(bench, ledger, "jobs", "5")["jobs"] == 5
    assert ask(bench, ledger, "resume")["state"] == "running"
    until(lambda: ask(bench, ledger, "status")["running"] == 5)
    assert ask(bench, ledger, "jobs", "1")["jobs"] == 1
    write(go, "")
    process.communicate(timeout=60)
    rows = rows_of(ledger)
    names = [row["event"] for row in rows if row["kind"] == "event"]
    assert [name for name in names if name in ("paused", "resumed", "ended")] == ["paused", "resumed", "ended"]
    asked = [row["detail"]["do"] for row in rows if row["kind"] == "event" and row["event"] == "request"]
    assert asked == ["pause", "jobs", "resume", "jobs"]
    assert sum(row["kind"] == "attempt" and row["passed"] is True for row in rows) == 12


def test_cancel_ends_one_attempt_as_a_void_and_stop_ends_the_run(running: Any) -> None:
    bench, process, ledger, _ = running
    first = next(row for row in rows_of(ledger) if row["kind"] == "event" and row["event"] == "started")
    ask(bench, ledger, "cancel", first["attempt_id"])
    wait_for(ledger, process, 1, "attempt", void="operator_stopped", attempt_id=first["attempt_id"])
    ask(bench, ledger, "stop")
    process.communicate(timeout=20)
    attempts = [row for row in rows_of(ledger) if row["kind"] == "attempt"]
    assert {row["void"] for row in attempts} == {"operator_stopped"}
    assert process.returncode == 3


def test_nonsense_is_refused_in_one_line(running: Any) -> None:
    bench, _, ledger, _ = running
    for words in (["jobs", "0"], ["jobs", "many"], ["jobs"], ["cancel", "nobody"], ["dance"]):
        refused = bench.cli("ctl", str(ledger), *words)
        assert refused.code == 2
        assert len(refused.err.splitlines()) == 1


def test_without_a_runner_ctl_says_so(bench: Bench) -> None:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.save()
    ran = bench.run("--headless")
    asked = bench.cli("ctl", str(ran.ledger), "status")
    assert (asked.code, asked.out) == (2, "")
    assert "no runner is alive" in asked.err


def test_detach_goes_on_without_a_terminal(bench: Bench) -> None:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "sleep 1; touch fixed"})
    bench.save()
    ledger = bench.next_ledger()
    began = bench.cli("run", str(bench.folder), "--out", str(ledger), "--detach", check=[0])
    assert "watch" in began.out
    until(lambda: any(row.get("event") == "ended" for row in rows_of(ledger)))
    assert "0 of 1 tasks flipped" in bench.cli("watch", str(ledger)).out
