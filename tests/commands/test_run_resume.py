"""Interrupted runs: nothing lives on, nothing is lost, nothing is counted twice, nothing is mixed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_studies import Bench, write


def rows_of(ledger: Path) -> list[dict[str, Any]]:
    """Complete rows; the last line may still be in the making."""
    try:
        data = ledger.read_bytes()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def wait_for(ledger: Path, process: subprocess.Popen[bytes], enough: int, kind: str, **fields: Any) -> None:
    """Until `enough` rows of the kind with these fields are in the ledger."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [row for row in rows_of(ledger) if row["kind"] == kind and fields.items() <= row.items()]
        if len(found) >= enough:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    raise AssertionError(f"{enough} rows {kind} {fields} did not come")


def counting(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    newest = {}
    for row in rows:
        if row["kind"] == "attempt":
            newest[(row["task"], row["env"], row["agent"], row["attempt"])] = row
    return newest


def alive_with(marker: str) -> list[str]:
    found = subprocess.run(["pgrep", "-f", marker], capture_output=True, text=True, check=False).stdout.split()
    return [pid for pid in found if pid != str(os.getpid())]


@pytest.fixture
def slow(bench: Bench, tmp_path: Path) -> Bench:
    """Four tasks whose agent waits for a file: 2 environments, 8 attempts."""
    for number in range(4):
        bench.task(f"t{number}", verify="test -f fixed")
    go = tmp_path / "go"
    usage = """echo '{"tokens_in": 90, "tokens_out": 10}' > "$USAGE_FILE\""""
    command = f"n=0; while [ ! -e {go} ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; touch fixed; {usage}"
    bench.agents({"name": "waiting", "command": command, "timeout_s": 100})
    bench.save(jobs=4)
    return bench


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_b07_a_stopped_run_leaves_no_process_and_no_fail(slow: Bench, tmp_path: Path, number: signal.Signals) -> None:
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 4, "event", event="phase", phase="agent")
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert alive_with(str(tmp_path / "go")) == []
    attempts = [row for row in rows_of(ledger) if row["kind"] == "attempt"]
    assert [row["void"] for row in attempts] == ["interrupted"] * 4
    assert b"Traceback" not in err


def test_a_killed_runner_leaves_nothing_behind_and_resume_completes_it(slow: Bench, tmp_path: Path) -> None:
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 4, "event", event="phase", phase="agent")
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 5
    while alive_with(str(tmp_path / "go")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive_with(str(tmp_path / "go")) == []
    write(tmp_path / "go", "")
    resumed = slow.cli("resume", str(ledger), "--headless", ledger=ledger)
    lost = [row for row in resumed.attempts if row["void"] == "interrupted"]
    assert len(lost) == 4
    final = counting(resumed.rows)
    assert len(final) == 8
    assert all(row["passed"] for row in final.values())
    assert Counter(row["replaces"] for row in resumed.attempts if row["replaces"]) == Counter(r["seq"] for r in lost)
    assert slow.cli("fsck", str(ledger)).code == 0
    assert "4 replaced" in resumed.out
    progress = [line for line in resumed.err.splitlines() if line.startswith("[")]
    assert progress[-1].startswith("[8/8]")
    assert len(progress) == 12, "four lost attempts and eight made here"


def test_b19_resume_of_a_complete_run_does_nothing_and_says_so(slow: Bench, tmp_path: Path) -> None:
    write(tmp_path / "go", "")
    ran = slow.run("--headless", check=[0, 3])
    before = ran.ledger.read_bytes()
    for _ in range(2):
        again = slow.cli("resume", str(ran.ledger), "--headless")
        assert "nothing to do" in again.err
        assert ran.ledger.read_bytes() == before
        assert again.code == ran.code


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"attempts": 2}, "rule.attempts"),
        ({"gate": {"flip_rate": 0.2}}, "rule.flip_rate"),
        ({"study": "other"}, "study_id"),
    ],
)
def test_b20_resume_under_another_rule_is_refused_and_names_the_fields(
    slow: Bench, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    process.terminate()
    process.communicate(timeout=20)
    before = ledger.read_bytes()
    slow.save(jobs=4, **change)
    refused = slow.cli("resume", str(ledger), "--headless")
    assert refused.code == 2
    assert named in refused.err and len(refused.err.splitlines()) == 1
    assert ledger.read_bytes() == before


@pytest.mark.parametrize("controls", [{"wall_clock_sec": 20}, {"forbidden_edits": ["secret/"]}])
def test_b20_resume_under_other_controls_is_refused(slow: Bench, controls: dict[str, Any]) -> None:
    write(slow.folder / "controls.yaml", json.dumps({"wall_clock_sec": 180}))
    slow.save(jobs=4, controls="controls.yaml")
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    process.terminate()
    process.communicate(timeout=20)
    before = ledger.read_bytes()
    write(slow.folder / "controls.yaml", json.dumps(controls))
    refused = slow.cli("resume", str(ledger), "--headless")
    assert refused.code == 2 and "controls_sha" in refused.err
    assert ledger.read_bytes() == before


def test_b20_more_than_one_attempt_is_another_study(slow: Bench) -> None:
    write(slow.folder / "controls.yaml", json.dumps({"max_attempts": 3}))
    slow.save(controls="controls.yaml")
    refused = slow.run("--headless")
    assert refused.code == 2 and "max_attempts" in refused.err


def test_b20_resume_with_a_changed_task_is_refused_by_its_name(slow: Bench) -> None:
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    process.terminate()
    process.communicate(timeout=20)
    write(slow.folder / "tasks" / "t2" / "oracle" / "note.txt", "changed\n")
    refused = slow.cli("resume", str(ledger), "--headless")
    assert refused.code == 2
    assert "t2" in refused.err and "oracle" in refused.err


def test_b21_totals_after_a_resume_cover_both_parts(slow: Bench, tmp_path: Path) -> None:
    process, ledger = slow.start("--headless", "--jobs", "1")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    write(tmp_path / "go", "")
    wait_for(ledger, process, 2, "attempt")
    (tmp_path / "go").unlink()
    process.terminate()
    process.communicate(timeout=20)
    write(tmp_path / "go", "")
    resumed = slow.cli("resume", str(ledger), "--headless", ledger=ledger)
    assert "attempts: 8 of 8 planned; 8 pass" in resumed.out
    final = counting(resumed.rows)
    assert sum(row["tokens_in"] + row["tokens_out"] for row in final.values()) == 800
    assert min(row["at"] for row in resumed.rows) == resumed.rows[0]["at"]
    runs = resumed.of_kind("run")
    assert [row["resumed"] for row in runs] == [False, True]


def test_b15_only_what_the_instrument_lost_is_run_again(bench: Bench, tmp_path: Path) -> None:
    bench.environments({"name": "here"}, {"name": "box", "kind": "sandbox"})
    bench.task("p", verify="test -f ok")
    bench.agents({"name": "fixer", "command": "touch ok"})
    bench.save()
    fake = tmp_path / "bin"
    write(fake / "bwrap", "#!/bin/sh\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n")
    (fake / "bwrap").chmod(0o755)
    real = bench.variables["PATH"]
    bench.variables["PATH"] = f"{fake}:{real}"
    ran = bench.run("--headless")
    assert {row["env"]: row["void"] for row in ran.attempts} == {"here": None, "box": "env_unavailable"}
    assert "Creating new namespace failed" in ran.err
    assert ran.code == 3
    again = bench.cli("resume", str(ran.ledger), "--headless", ledger=ran.ledger)
    assert [row["env"] for row in again.attempts] == ["here", "box", "box"] or again.attempts[-1]["env"] == "box"
    assert sum(row["env"] == "here" for row in again.attempts) == 1


def test_two_runs_cannot_write_one_ledger(slow: Bench) -> None:
    process, ledger = slow.start("--headless")
    wait_for(ledger, process, 1, "event", event="phase", phase="agent")
    second = slow.cli("resume", str(ledger), "--headless")
    assert second.code == 2
    assert str(process.pid) in second.err
    process.terminate()
    process.communicate(timeout=20)
