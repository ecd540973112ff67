"""What the world does to a run: streams that close, mounts, giant files, stopped helpers, leftovers of others."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from small_studies import Bench, write


@pytest.fixture
def small(bench: Bench) -> Bench:
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "fixer", "command": "touch fixed"})
    bench.environments({"name": "here", "timeout_s": "8"})
    bench.save()
    return bench


def shell(bench: Bench, line: str) -> subprocess.CompletedProcess[str]:
    """A line of bash with `$T` for the command."""
    variables = {**bench.variables, "T": " ".join(bench.command()), "TUI_BENCH_TEST": "1"}
    return subprocess.run(
        ["bash", "-c", line], cwd=bench.folder, env=variables, capture_output=True, text=True, timeout=90, check=False
    )


def test_a_reader_that_leaves_ends_neither_the_run_nor_its_verdict(small: Bench) -> None:
    ledger = small.next_ledger()
    done = shell(small, f"$T run . --plain --headless --out {ledger} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}")
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() == "3"
    assert small.cli("gate", str(ledger)).code == 3
    assert small.cli("fsck", str(ledger)).code == 0
    assert b'"void":null' in ledger.read_bytes()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full", ">/dev/full"])
def test_closed_and_full_streams_change_no_exit_code(small: Bench, closed: str) -> None:
    ledger = small.next_ledger()
    small.environments({"name": "here"}, {"name": "there"})
    shell(small, f"$T run . --headless --out {ledger} {closed}; echo $? >code")
    assert (small.folder / "code").read_text().strip() == "0"
    for command in ("gate", "watch", "flips"):
        done = shell(small, f"$T {command} {ledger} {closed}; echo $? >code")
        assert "Traceback" not in done.stderr
        assert (small.folder / "code").read_text().strip() == "0", command
    assert small.cli("fsck", str(ledger)).code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_mount_that_an_agent_leaves_is_named_and_what_lies_behind_it_stays(small: Bench, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    write(precious / "sub" / "f", "mine")
    small.agents({"name": "binder", "command": f"touch fixed; mkdir m; mount --bind {precious} m"})
    small.save()
    ran = small.run("--headless")
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if "/repo/m " in line]
    try:
        row = ran.attempts[0]
        assert (row["passed"], row["void"]) == (None, "write_outside")
        assert "mount" in row["void_detail"]
        assert (precious / "sub" / "f").read_text() == "mine"
        assert "not removed" in ran.err
    finally:
        for place in mounted:
            subprocess.run(["umount", place], check=True)


def test_a_giant_file_is_no_reason_to_wait(small: Bench) -> None:
    small.agents({"name": "big", "command": "touch fixed; truncate -s 200G sparse"})
    small.save()
    began = time.monotonic()
    row = small.run("--headless").attempts[0]
    assert (row["void"], row["passed"]) == ("disk_limit", None)
    assert "MB" in row["void_detail"]
    assert time.monotonic() - began < 20


def test_an_agent_that_stops_its_supervisor_loses_its_slot_and_not_the_run(small: Bench) -> None:
    small.agents({"name": "stopper", "command": "kill -STOP $PPID; sleep 1"})
    small.save()
    began = time.monotonic()
    ran = small.run("--headless")
    assert ran.attempts[0]["void"] == "worker_lost"
    assert time.monotonic() - began < 30
    left = subprocess.run(["pgrep", "-f", "supervisor_program"], capture_output=True, text=True, check=False)
    states = [Path(f"/proc/{pid}/stat") for pid in left.stdout.split()]
    assert not [one for one in states if one.exists() and ") T " in one.read_text()]


def test_an_agent_that_worked_and_then_exits_127_is_scored(small: Bench) -> None:
    small.agents({"name": "odd", "command": "touch fixed; exit 127"})
    small.save()
    row = small.run("--headless").attempts[0]
    assert (row["passed"], row["agent_exit"]) == (True, 127)


def test_files_of_somebody_else_are_not_overwritten(small: Bench) -> None:
    ledger = small.next_ledger()
    write(ledger.with_suffix("") / "plan.json", "mine")
    refused = small.cli("run", str(small.folder), "--headless", "--out", str(ledger))
    assert refused.code == 2 and len(refused.err.splitlines()) == 1
    assert (ledger.with_suffix("") / "plan.json").read_text() == "mine"
    blocked = small.next_ledger()
    write(blocked.with_suffix(""), "a file")
    assert small.cli("run", str(small.folder), "--headless", "--out", str(blocked)).code == 2


def test_a_link_to_a_ledger_means_the_ledger(small: Bench) -> None:
    ran = small.run("--headless")
    link = small.folder / "elsewhere" / "l.jsonl"
    link.parent.mkdir()
    link.symlink_to(ran.ledger)
    assert small.cli("fsck", str(link)).code == 0
    assert small.cli("gate", str(link)).code == 3
    assert "nothing to do" in small.cli("resume", str(link), "--headless").err


@pytest.mark.parametrize("head", ["", "xyz", "abc123"])
def test_a_head_that_is_none_is_a_usage_error(small: Bench, head: str) -> None:
    ran = small.run("--headless")
    assert small.cli("fsck", str(ran.ledger), "--head", head).code == 2


def test_an_attempt_lost_three_times_stays_void_and_that_is_said(bench: Bench, tmp_path: Path) -> None:
    started = tmp_path / "started"
    bench.environments({"name": "here"})
    bench.task("one", verify="test -f fixed")
    bench.agents({"name": "slow", "command": f"touch {started}; sleep 30; touch fixed", "timeout_s": 40})
    bench.save()
    process, ledger = bench.start("--headless")
    for _ in range(3):
        deadline = time.monotonic() + 30
        while not started.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        started.unlink()
        process.terminate()
        process.communicate(timeout=20)
        process = subprocess.Popen(
            bench.command("resume", str(ledger), "--headless"), cwd=bench.folder, env=bench.variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    process.communicate(timeout=30)
    again = bench.cli("resume", str(ledger), "--headless")
    assert "1 stay void, lost 3 times" in again.err


def test_a_full_disk_at_the_start_leaves_no_ledger_that_nothing_can_use(small: Bench, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=True)
    try:
        with (disk / "fill").open("wb", buffering=0) as fill, pytest.raises(OSError, match="No space"):
            while True:
                fill.write(b"x" * 4096)
        refused = small.cli("run", str(small.folder), "--headless", "--out", str(disk / "y.jsonl"))
        assert refused.code == 2 and len(refused.err.splitlines()) == 1
        assert "No space left" in refused.err
        assert not (disk / "y.jsonl").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_is_gone_is_named(small: Bench) -> None:
    done = shell(small, "mkdir gone; cd gone; rmdir ../gone; $T info; echo $?")
    assert done.stdout.splitlines()[-1] == "2"
    assert "current folder" in done.stderr and len(done.stderr.splitlines()) == 1
