"""What becomes of a command's processes, in both kinds where both can do it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest_environments import LINUX, Bench

from tui_bench.environments.process_tree import Tree, children_by_scan, count_alive, descendants
from tui_bench.environments.supervisor import SupervisorSlot, choose_cpus

FORKS_WITHOUT_PAUSE = """import os, time  # MARK
end = time.time() + 3
while time.time() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
linux_only = pytest.mark.skipif(not LINUX, reason="process trees are found by procfs")


async def test_exit_code_and_both_streams_are_reported(bench: Bench) -> None:
    outcome = await bench.run("echo out; echo err >&2; exit 3")
    assert (outcome.why, outcome.exit_code, outcome.signal) == ("exited", 3, None)
    assert (outcome.output.stdout_tail, outcome.output.stderr_tail) == (b"out\n", b"err\n")
    assert sorted(bench.log.read_text().split()) == ["err", "out"]


async def test_b09_a_command_killed_by_a_signal_is_told_from_one_that_exits_with_that_code(bench: Bench) -> None:
    killed = await bench.run("kill -9 $$")
    assert (killed.why, killed.exit_code, killed.signal, killed.memory_exceeded) == ("exited", None, 9, False)
    assert killed.output.total == 0, "the report about it is not part of the command's output"
    ended = await bench.run("exit 137")
    assert (ended.why, ended.exit_code, ended.signal) == ("exited", 137, None)


@pytest.mark.parametrize("program", ["no-such-cli", "./no-such-cli", "./not-executable"])
async def test_b11_a_command_that_cannot_be_started_is_named(bench: Bench, program: str) -> None:
    command = bench.command(program, "word")
    (bench.folder / "repo" / "not-executable").write_text("echo\n")
    outcome = await bench.start(command)
    assert (outcome.why, outcome.exit_code) == ("not_started", None)
    assert outcome.detail is not None and outcome.detail.startswith(f"{program}:")


async def test_b01_limit_ends_children_in_the_group_and_outside_it(bench: Bench) -> None:
    outcome = await bench.run(
        "(while :; do date >> alive.txt; sleep 0.05; done; : MARK) &"
        "setsid sh -c 'while :; do date >> alive2.txt; sleep 0.05; done; : MARK' & wait",
        wall_s=0.4,
    )
    assert outcome.why == "timeout"
    assert 400 <= outcome.wall_ms < 2_500
    assert bench.marked() == []
    sizes = [(bench.folder / "repo" / name).stat().st_size for name in ("alive.txt", "alive2.txt")]
    await asyncio.sleep(0.15)
    assert sizes == [(bench.folder / "repo" / name).stat().st_size for name in ("alive.txt", "alive2.txt")]


@linux_only
async def test_d01_daemons_are_counted_killed_and_do_not_touch_the_next_command(bench: Bench) -> None:
    outcome = await bench.run(
        "for i in $(seq 19); do (setsid env -i sh -c 'setsid sleep 300 & sleep 300 # MARK' &) ; done;"
        f"setsid python3 -c '{FORKS_WITHOUT_PAUSE}' & sleep 0.3; exit 0"
    )
    assert (outcome.why, outcome.exit_code) == ("exited", 0)
    assert outcome.left_over_processes is not None and outcome.left_over_processes >= 38
    assert outcome.peak_processes is not None and outcome.peak_processes > 38
    assert bench.marked() == []
    again = await bench.run("exit 0")
    assert (again.exit_code, again.left_over_processes) == (0, 0)


async def test_d02_a_command_that_ignores_signals_is_over_after_the_grace(bench: Bench) -> None:
    outcome = await bench.run("trap '' TERM HUP INT; while :; do sleep 0.05; done # MARK", wall_s=0.3, grace_s=0.3)
    assert (outcome.why, outcome.exit_code, outcome.signal) == ("timeout", None, 9)
    assert 600 <= outcome.wall_ms < 3_000
    assert bench.marked() == []


async def test_b12_a_command_may_finish_its_work_within_the_grace(bench: Bench) -> None:
    outcome = await bench.run("trap 'touch done.txt; exit 5' TERM; while :; do sleep 0.05; done", wall_s=0.3, grace_s=5)
    assert (outcome.why, outcome.exit_code) == ("timeout", 5)
    assert (bench.folder / "repo" / "done.txt").exists()
    assert outcome.wall_ms < 3_000


async def test_a_stopped_command_is_woken_and_ended(bench: Bench) -> None:
    outcome = await bench.run("kill -STOP $$; sleep 60", wall_s=0.3, grace_s=5)
    assert outcome.why == "timeout"
    assert outcome.wall_ms < 3_000


async def test_d05_a_daemon_that_holds_the_output_open_delays_nothing(bench: Bench) -> None:
    began = time.monotonic()
    outcome = await bench.run("(sleep 30; echo late) & echo early; exit 0 # MARK")
    assert time.monotonic() - began < 2
    assert (outcome.exit_code, outcome.output.stdout_tail) == (0, b"early\n")
    assert bench.marked() == []


async def test_b03_d05_reading_from_the_keyboard_ends_at_once(bench: Bench) -> None:
    outcome = await bench.run("read answer; echo read $?; (: < /dev/tty) 2>/dev/null; echo tty $?")
    assert outcome.wall_ms < 2_000
    first, second = outcome.output.stdout_tail.split(b"\n")[:2]
    assert first == b"read 1"
    assert second.startswith(b"tty ") and second != b"tty 0"


async def test_a_cancel_that_comes_before_the_command_began_is_not_lost(bench: Bench) -> None:
    for turns in range(6):
        running = asyncio.ensure_future(bench.run("sleep 60"))
        for _ in range(turns):
            await asyncio.sleep(0)
        if turns:
            bench.slot.cancel()
            assert (await running).why == "cancelled"
        else:
            running.cancel()
    assert (await bench.run("exit 2")).exit_code == 2


async def test_a_cancel_right_behind_a_large_request_does_not_cut_into_it(local: Bench) -> None:
    command = local.command("sleep 60")
    variables = {**command.variables, **{f"WORD{number}": "x" * 100_000 for number in range(10)}}
    running = asyncio.ensure_future(local.start(replace(command, variables=variables)))
    await asyncio.sleep(0)
    for _ in range(50):
        local.slot.cancel()
        await asyncio.sleep(0)
    assert (await running).why == "cancelled"
    assert (await local.run("exit 2")).exit_code == 2


async def test_cancel_ends_the_running_command_and_the_slot_goes_on(bench: Bench) -> None:
    running = asyncio.ensure_future(bench.run("echo ready > ready.txt; sleep 300 # MARK"))
    while not (bench.folder / "repo" / "ready.txt").exists():
        await asyncio.sleep(0.01)
    bench.slot.cancel()
    outcome = await running
    assert outcome.why == "cancelled"
    assert bench.marked() == []
    bench.slot.cancel()  # nothing runs: nothing happens
    assert (await bench.run("exit 0")).exit_code == 0


@linux_only
async def test_d08_in_local_a_command_can_kill_neither_owner_nor_guardian(local: Bench) -> None:
    outcome = await local.run(f"kill -9 {os.getpid()}; kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); echo alive")
    assert outcome.output.stdout_tail == b"alive\n", "the command itself goes on"
    if not local.slot.scoped:
        pytest.skip("this kernel has no Landlock signal scope")
    assert outcome.output.stderr_tail.count(b"not permitted") == 2


@linux_only
async def test_d08_killing_the_supervisor_is_reported_and_leaves_nothing(local: Bench) -> None:
    outcome = await local.run(
        "(setsid sleep 300 MARK; true) & setsid sh -c 'sleep 300; : MARK' & kill -9 $PPID; sleep 300"
    )
    assert outcome.why == "lost"
    assert outcome.detail is not None
    assert local.marked() == []
    assert (await local.run("exit 4")).exit_code == 4, "the slot has a fresh supervisor"


@pytest.mark.sandbox
async def test_d08_in_the_sandbox_a_command_sees_only_its_own_processes(boxed: Bench) -> None:
    boxed.command("x")
    outcome = await boxed.run("kill -9 -1 2>/dev/null; exit 0")
    assert outcome.why == "exited"
    assert (await boxed.run("exit 4")).exit_code == 4


async def test_an_idle_supervisor_that_was_killed_is_replaced(local: Bench) -> None:
    assert (await local.run("exit 0")).exit_code == 0
    old = local.slot.pid
    assert old is not None
    (worker,) = descendants(old)
    os.kill(worker, 9)
    while Path(f"/proc/{worker}").exists():
        time.sleep(0.001)
    assert (await local.run("exit 5")).exit_code == 5
    assert local.slot.pid != old


@linux_only
@pytest.mark.parametrize("how", ["SIGKILL of the owner", "the owner closes the slot"])
async def test_d03_when_the_owner_goes_everything_goes(bench: Bench, how: str) -> None:
    text = "(setsid sh -c 'trap \"\" TERM; sleep 300; : MARK' &); echo ready > ready.txt; sleep 300 # MARK"
    ready = bench.folder / "repo" / "ready.txt"
    if how == "the owner closes the slot":
        running = asyncio.ensure_future(bench.run(text))
        while not ready.exists():
            await asyncio.sleep(0.01)
        await bench.slot.close()
        assert (await running).why == "owner_gone"
        assert bench.marked() == []
        return
    script = Path(__file__).with_name("owner_to_kill.py")
    owner = subprocess.Popen(
        [os.sys.executable, str(script), bench.transport.kind, str(bench.folder), text, bench.mark],
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    supervisor = int(owner.stdout.readline())
    while not ready.exists():
        assert owner.poll() is None
        time.sleep(0.01)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    gone_by = time.monotonic() + 3
    while (bench.marked() or count_alive([supervisor])) and time.monotonic() < gone_by:
        time.sleep(0.01)
    assert bench.marked() == []
    assert count_alive([supervisor]) == 0


@linux_only
async def test_d07_descriptors_and_processes_stay_constant(bench: Bench) -> None:
    await bench.run("exit 0")
    pid = bench.slot.pid
    assert pid is not None
    (worker,) = descendants(pid)

    def seen() -> tuple[int, int, list[int]]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{worker}/fd")), descendants(pid)

    before = seen()
    for _ in range(12):
        assert (await bench.run("sleep 100 & setsid sleep 100 & exit 0")).why == "exited"
        assert (await bench.run("exit 1")).exit_code == 1
        assert (await bench.run("no-such-cli", "x")).why == "not_started"
    assert seen() == before


async def test_b09_memory_over_the_limit_is_named(bench: Bench) -> None:
    one = await bench.run("python3", "-c", "x = bytearray(3 << 30)", memory_mb=256)
    assert (one.why, one.exit_code, one.memory_exceeded) == ("exited", 1, True)
    fine = await bench.run("python3", "-c", "x = bytearray(30 << 20)", memory_mb=256)
    assert (fine.exit_code, fine.memory_exceeded) == (0, False)


@linux_only
async def test_b09_memory_of_all_processes_together_is_limited(bench: Bench) -> None:
    text = (
        "import os, time  # MARK\nfor _ in range(3):\n  if os.fork() == 0: break\n"
        "x = bytearray(120 << 20)\ntime.sleep(20)"
    )
    outcome = await bench.run("python3", "-c", text, memory_mb=256)
    assert (outcome.why, outcome.signal, outcome.memory_exceeded) == ("exited", 9, True)
    assert outcome.peak_rss_bytes is not None and outcome.peak_rss_bytes > 256 << 20
    assert bench.marked() == []


@linux_only
async def test_usage_counts_the_whole_tree(bench: Bench) -> None:
    spin = "python3 -c 'import time\nwhile time.process_time() < 0.15: pass'"
    outcome = await bench.run(
        f"(setsid sh -c \"{spin}; touch done\" &) ; {spin}; python3 -c 'x = bytearray(90 << 20)';"
        "while ! [ -e done ]; do sleep 0.02; done"
    )
    assert outcome.cpu_ms is not None and outcome.cpu_ms >= 290
    assert outcome.peak_rss_bytes is not None and 90 << 20 < outcome.peak_rss_bytes < 200 << 20


@linux_only
async def test_cpus_are_limited(bench: Bench) -> None:
    assert (await bench.run("nproc", "--", cpus=1.0)).output.stdout_tail == b"1\n"
    everything = await bench.run("nproc", "--")
    assert everything.output.stdout_tail == b"%d\n" % len(os.sched_getaffinity(0)), "the slot itself is not narrowed"


@linux_only
def test_slots_take_different_cpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 5})
    assert [choose_cpus(1, slot) for slot in range(5)] == [[0], [1], [2], [5], [0]]
    assert [choose_cpus(2, slot) for slot in range(3)] == [[0, 1], [2, 5], [0, 1]]
    assert choose_cpus(None, 1) is None


async def test_one_slot_runs_one_command_at_a_time(local: Bench) -> None:
    running = asyncio.ensure_future(local.run("sleep 0.2"))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError):
        await local.run("exit 0")
    assert (await running).exit_code == 0


async def test_a_large_request_arrives_whole(local: Bench) -> None:
    variables = {f"WORD{number}": "x" * 60_000 for number in range(8)}
    command = local.command('printf %s "$WORD7" | wc -c')
    outcome = await local.start(replace(command, variables={**command.variables, **variables}))
    assert outcome.output.stdout_tail.strip() == b"60000"


@linux_only
def test_without_children_files_one_pass_over_procfs_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = subprocess.Popen(
        ["sh", "-c", "sh -c 'echo ready; sleep 60; :'; :"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert chain.stdout is not None
    chain.stdout.readline()
    try:
        deep = descendants(chain.pid)
        monkeypatch.setattr("tui_bench.environments.process_tree.HAS_CHILDREN_FILES", False)
        while len(deep) < 2:
            deep = descendants(chain.pid)
        assert descendants(chain.pid) == deep
        assert deep[0] in children_by_scan()[chain.pid]
    finally:
        for pid in reversed([chain.pid, *descendants(chain.pid)]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        chain.wait()
        chain.stdout.close()


def test_off_linux_the_process_group_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_bench.environments.process_tree.LINUX", False)
    first = subprocess.Popen(
        ["sh", "-c", "sleep 300 & sleep 300 & echo ready; wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert first.stdout is not None
    first.stdout.readline()
    assert Tree(first.pid).kill_until_none() == 0
    assert first.stdout.read() == b"", "all holders of the pipe are gone"
    assert first.wait() == -9
    first.stdout.close()


async def test_a_supervisor_that_does_not_start_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from tui_bench.errors import EnvironmentUnavailable

    monkeypatch.setattr("tui_bench.environments.supervisor.base_interpreter", lambda: "/bin/false")
    slot = SupervisorSlot()
    with pytest.raises(EnvironmentUnavailable, match="/bin/false"):
        await slot.start()
    await slot.close()
