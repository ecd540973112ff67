"""What is kept of a command's output."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest
from conftest_environments import LINUX, Bench

from tui_bench.environments.capped_output import CappedLog


async def test_b04_a_line_longer_than_any_buffer_is_kept_whole(bench: Bench) -> None:
    outcome = await bench.run("python3", "-c", "print('x' * 200_000)")
    assert (outcome.exit_code, outcome.output.cut) == (0, False)
    assert bench.log.read_bytes() == b"x" * 200_000 + b"\n"


async def test_b05_bytes_that_are_no_text_are_kept_as_they_are(bench: Bench) -> None:
    outcome = await bench.run(r"printf 'caf\351 \377\n\211PNG\r\n\032\n\000'; exit 1")
    assert outcome.exit_code == 1
    assert bench.log.read_bytes() == outcome.output.stdout_tail == b"caf\xe9 \xff\n\x89PNG\r\n\x1a\n\x00"


async def test_b06_endless_output_keeps_head_tail_and_a_line_about_the_rest(local: Bench) -> None:
    outcome = await local.run(
        "echo FIRST; yes | head -c 300000000; echo LAST; exit 1", head_bytes=1_000_000, tail_bytes=100_000
    )
    total = len(b"FIRST\n") + 300_000_000 + len(b"LAST\n")
    assert outcome.exit_code == 1
    assert (outcome.output.total, outcome.output.kept, outcome.output.cut) == (total, 1_100_000, True)
    assert outcome.output.stdout_tail.endswith(b"LAST\n")
    assert len(outcome.output.stdout_tail) == 4096
    log = local.log.read_bytes()
    assert log.startswith(b"FIRST\ny\n")
    assert log.endswith(b"y\nLAST\n")
    assert b"\n[... %d bytes left out ...]\n" % (total - 1_100_000) in log
    assert len(log) < 1_100_100


@pytest.mark.skipif(not LINUX, reason="peak memory is read from procfs")
async def test_b06_endless_output_until_the_limit_takes_no_memory(local: Bench) -> None:
    await local.run("exit 0")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await local.run("yes", wall_s=0.7)
    assert outcome.why == "timeout"
    assert outcome.output.total > outcome.output.kept == 9 * 1024 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10_000
    supervisor = Path(f"/proc/{local.slot.pid}/task/{local.slot.pid}/children").read_text().split()[0]
    peak = next(line for line in Path(f"/proc/{supervisor}/status").read_text().splitlines() if "VmHWM" in line)
    assert int(peak.split()[1]) < 40_000


async def test_output_up_to_the_cap_is_whole_and_says_nothing(local: Bench) -> None:
    outcome = await local.run("head -c 1500 /dev/zero", head_bytes=1000, tail_bytes=500)
    assert (outcome.output.total, outcome.output.kept, outcome.output.cut) == (1500, 1500, False)
    assert local.log.read_bytes() == bytes(1500)


async def test_the_cut_is_named_on_a_line_of_its_own(local: Bench) -> None:
    await local.run("printf %s abcdefghij", head_bytes=3, tail_bytes=2)
    assert local.log.read_bytes() == b"abc\n[... 5 bytes left out ...]\nij"


async def test_the_head_can_be_read_while_the_command_runs(local: Bench) -> None:
    import asyncio

    running = asyncio.ensure_future(local.run("echo now; sleep 20"))
    while not (local.log.exists() and local.log.read_bytes() == b"now\n"):
        await asyncio.sleep(0.005)
    local.slot.cancel()
    assert (await running).why == "cancelled"


async def test_what_was_written_right_before_the_end_is_not_lost(bench: Bench) -> None:
    for _ in range(5):
        outcome = await bench.run("head -c 60000 /dev/zero; kill -9 $$")
        assert (outcome.output.total, bench.log.stat().st_size) == (60_000, 60_000)


@pytest.mark.parametrize("obstacle", ["file", "link", "folder missing"])
async def test_a_log_is_never_written_over_or_through_a_link(local: Bench, obstacle: str) -> None:
    canary = local.folder / "canary"
    canary.write_text("precious")
    command = local.command("echo overwritten")
    if obstacle == "file":
        command.log.write_text("earlier")
    elif obstacle == "link":
        command.log.symlink_to(canary)
    else:
        command = local.command("echo x", log=local.folder / "none" / "x.log")
    outcome = await local.start(command)
    assert outcome.why == "not_started"
    assert outcome.detail is not None and str(command.log) in outcome.detail
    assert canary.read_text() == "precious"
    assert (await local.run("exit 0")).exit_code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_ends_the_log_and_not_the_command(tmp_path: Path) -> None:
    log = CappedLog(str(tmp_path / "log"), 100, 100)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, log.fd)
    os.close(full)
    log.add(memoryview(b"x" * 50))
    log.add(memoryview(b"x" * 50))
    log.close()
    assert (log.total, log.kept) == (100, 0)
    assert log.error == "log: No space left on device"


async def test_a_command_that_closes_its_output_runs_on(bench: Bench) -> None:
    began = time.monotonic()
    outcome = await bench.run("echo a; exec >&- 2>&-; sleep 0.3; exit 6")
    assert (outcome.exit_code, outcome.output.stdout_tail) == (6, b"a\n")
    assert time.monotonic() - began >= 0.3
    assert outcome.cpu_ms is not None and outcome.cpu_ms < 250, "waiting does not spin"
