"""What a command in the sandbox can and cannot reach."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from conftest_environments import BWRAP, Bench

from tui_bench.environments.base import Mount
from tui_bench.environments.environment import open_environment
from tui_bench.environments.process_tree import count_alive, descendants
from tui_bench.environments.transports import ETC, Sandbox
from tui_bench.environments.variables import base_prefix
from tui_bench.study.model import Environment

pytestmark = pytest.mark.sandbox

CONNECT = """
import socket, sys
kind, *where = sys.argv[1:]
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
address = where[0].replace("@", chr(0)) if kind == "unix" else (where[0], int(where[1]))
try:
    with socket.socket(family) as s:
        s.settimeout(3)
        s.connect(address)
    print("connected")
except OSError as error:
    print("refused:", error)
"""


async def test_host_files_cannot_be_seen_or_written(boxed: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    canary = tmp_path_factory.mktemp("elsewhere") / "canary"
    canary.write_text("precious")
    outcome = await boxed.run(
        f"cat {canary}; cat /etc/shadow /etc/hostname; ls /var /srv /opt /mnt /work; echo x > {canary}; "
        "touch /usr/written /etc/written; ls /; ls -A /root /home; id -u"
    )
    assert b"precious" not in outcome.output.stdout_tail
    assert canary.read_text() == "precious"
    assert not Path("/usr/written").exists() and not Path("/etc/written").exists()
    top = outcome.output.stdout_tail.split()
    assert b"var" not in top
    for hidden in (b"/etc/shadow", b"/etc/hostname", b"/var", b"/srv", b"/opt"):
        assert b"'%s'" % hidden in outcome.output.stderr_tail or hidden in outcome.output.stderr_tail


async def test_row24_other_attempts_ledger_and_oracle_are_invisible(boxed: Bench) -> None:
    (boxed.folder / "oracle").mkdir()
    (boxed.folder / "oracle" / "hidden_test.py").write_text("SECRET")
    (boxed.folder / "ledger.jsonl").write_text("SECRET")
    command = boxed.command(
        f"ls -d {boxed.folder} 2>/dev/null; cat /proc/1/cwd/ledger.jsonl 2>/dev/null; cd ..; pwd; ls -A . ..; ls repo"
    )
    (boxed.folder / "repo" / "mine.txt").write_text("mine")
    outcome = await boxed.start(command)
    assert outcome.output.stdout_tail.startswith(b"/verify\n.:\nrepo\n\n..:\n")
    assert outcome.output.stdout_tail.endswith(b"mine.txt\n")
    assert b"SECRET" not in outcome.output.stdout_tail


async def test_mounts_lie_where_they_are_said_to_and_read_only_is_kept(boxed: Bench) -> None:
    mounts = []
    for role in ("workspace", "input", "output", "home", "tmp", "oracle"):
        (boxed.folder / f"host-{role}").mkdir()
        mounts.append(Mount(role, boxed.folder / f"host-{role}", writable=role not in ("input", "oracle")))
    (boxed.folder / "host-input" / "prompt.md").write_text("fix it")
    inside = [boxed.transport.inside(mount) for mount in mounts]
    assert inside == ["/ws", "/input", "/output", "/home/agent", "/tmp/attempt", "/verify/oracle"]
    outcome = await boxed.run(
        f"pwd; cat /input/prompt.md; for d in {' '.join(inside)}; do touch $d/new; done",
        cwd="workspace", mounts=tuple(mounts),
    )  # fmt: skip
    assert outcome.output.stdout_tail == b"/ws\nfix it"
    assert outcome.output.stderr_tail.count(b"Read-only") == 2
    made = sorted(path.parent.name for path in boxed.folder.glob("host-*/new"))
    assert made == ["host-home", "host-output", "host-tmp", "host-workspace"]


async def test_a_folder_that_is_missing_is_named(boxed: Bench) -> None:
    environment = open_environment(Environment(name="box", kind="sandbox"))
    environment._transport = boxed.transport
    command = boxed.command("true", readable=(Path("/no/such/place"),))
    outcome = await environment.run(boxed.slot, command)
    assert outcome.why == "not_started"
    assert outcome.detail == "readable path /no/such/place does not exist"
    (boxed.folder / "repo").rmdir()
    outcome = await environment.run(boxed.slot, replace(command, readable=()))
    assert outcome.detail == f"repo {boxed.folder / 'repo'} does not exist"


async def test_readable_paths_are_seen_at_the_same_place_and_not_writable(boxed: Bench) -> None:
    tool = boxed.folder / "opt" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho tool ran\n")
    tool.chmod(0o755)
    outcome = await boxed.run(f"{tool}; echo x >> {tool}", readable=(tool.parent,))
    assert outcome.output.stdout_tail == b"tool ran\n"
    assert b"Read-only" in outcome.output.stderr_tail
    assert tool.read_text() == "#!/bin/sh\necho tool ran\n"


async def test_the_interpreter_of_the_tool_is_there_but_not_its_packages(boxed: Bench) -> None:
    outcome = await boxed.run("python3", "-c", "import sys; print(sys.base_prefix); import textual")
    assert outcome.output.stdout_tail.decode().strip() == str(base_prefix())
    assert b"No module named 'textual'" in outcome.output.stderr_tail


async def test_d25_b36_no_listener_of_the_host_can_be_reached(boxed: Bench) -> None:
    name = uuid.uuid4().hex
    path = Path(f"/run/{name}") if os.access("/run", os.W_OK) else boxed.folder / "outer.sock"
    lan = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    reached: list[str] = []
    listeners = []

    def listen(family: int, address: object) -> socket.socket:
        listener = socket.socket(family)
        listener.bind(address)  # type: ignore[arg-type]
        listener.listen()
        listeners.append(listener)
        threading.Thread(target=accept, args=(listener, str(address)), daemon=True).start()
        return listener

    def accept(listener: socket.socket, label: str) -> None:
        while True:
            try:
                listener.accept()[0].close()
            except OSError:
                return
            reached.append(label)

    try:
        port = str(listen(socket.AF_INET, ("0.0.0.0", 0)).getsockname()[1])
        listen(socket.AF_UNIX, str(path))
        listen(socket.AF_UNIX, f"\0{name}")
        targets = [("inet", "127.0.0.1", port), ("unix", str(path)), ("unix", f"@{name}")]
        targets += [("inet", address, port) for address in lan if ":" not in address]
        for target in targets:
            here = subprocess.run(["python3", "-c", CONNECT, *target], capture_output=True, check=True).stdout
            assert here == b"connected\n", "the listener works"
            reached.clear()
            outcome = await boxed.run("python3", "-c", CONNECT, *target)
            assert outcome.output.stdout_tail.startswith(b"refused:"), target
            assert reached == []
    finally:
        for listener in listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        path.unlink(missing_ok=True)


async def test_with_an_open_network_the_host_loopback_is_reached(boxed: Bench) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = str(server.sockets[0].getsockname()[1])
    outcome = await boxed.run("python3", "-c", CONNECT, "inet", "127.0.0.1", port, network="open")
    server.close()
    await server.wait_closed()
    assert outcome.output.stdout_tail == b"connected\n"


async def test_no_privileges_inside(boxed: Bench) -> None:
    outcome = await boxed.run(
        "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status; unshare --user true && echo nested;"
        "mknod disk b 8 0 && echo device; ls -l /proc/self/fd | tail -n +2 | wc -l; tty"
    )
    lines = outcome.output.stdout_tail.decode().split("\n")
    assert [line.split()[1] for line in lines[:3]] == ["0" * 16, "0" * 16, "1"]
    assert lines[3:5] == ["4", "not a tty"], "stdin, stdout, stderr, and the listing itself: nothing else is open"


async def test_row16_private_tmp_is_bounded(boxed: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_bench.environments.transports.TMP_BYTES", 2 << 20)
    outcome = await boxed.run(
        "head -c 5000000 /dev/zero > /tmp/x; stat -c %s /tmp/x; head -c 5000000 /dev/zero > /run/y;"
        "echo kept > $TMPDIR/z"
    )
    assert outcome.output.stderr_tail.count(b"No space left") == 2
    assert int(outcome.output.stdout_tail) <= 2 << 20
    assert (boxed.folder / "tmp" / "z").read_text() == "kept\n"
    assert sorted(path.name for path in (boxed.folder / "tmp").iterdir()) == ["z"]


async def test_row20_values_of_variables_are_not_in_the_hosts_process_list(boxed: Bench) -> None:
    command = boxed.command('echo ready > ready.txt; printf %s "$API_KEY"; sleep 20')
    command = replace(command, variables={**command.variables, "API_KEY": boxed.mark})
    running = asyncio.ensure_future(boxed.start(command))
    while not (boxed.folder / "repo" / "ready.txt").exists():
        await asyncio.sleep(0.01)
    assert boxed.marked() == []
    boxed.slot.cancel()
    assert (await running).output.stdout_tail == boxed.mark.encode()


async def test_row34_of_etc_only_the_listed_names_are_there(boxed: Bench) -> None:
    outcome = await boxed.run("ls -A /etc")
    assert set(outcome.output.stdout_tail.decode().split()) <= set(ETC)


def test_the_recipe_is_the_one_that_was_reviewed(boxed: Bench) -> None:
    words = list(Sandbox(BWRAP or "bwrap").recipe(boxed.command("true")))
    promised = "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL"
    assert " ".join(words).startswith(f"{promised} --ro-bind /usr /usr ")
    assert "--share-net" not in words
    assert words[-2:] == ["--chdir", "/verify/repo"]
    assert list(Sandbox("bwrap").recipe(boxed.command("true", network="open")))[1] == "--share-net"


async def test_row30_orphans_are_reaped_inside_while_the_command_runs(boxed: Bench) -> None:
    outcome = await boxed.run(
        "for i in $(seq 30); do (setsid true &); done; sleep 0.2;"
        "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z '; kill -9 1; kill -TERM 1; echo alive; exit 3"
    )
    assert outcome.output.stdout_tail == b"0\nalive\n"
    assert (outcome.exit_code, outcome.left_over_processes) == (3, 0)


async def test_row13_killing_bubblewrap_alone_ends_all_inside(boxed: Bench) -> None:
    launch = boxed.transport.launch(boxed.command("setsid sleep 300 & sleep 300 # MARK"))
    told, tell = os.pipe()
    argv = ["bash", "-c", f'exec 3>&{tell}; exec "$@"', "sh", *launch.argv]
    process = subprocess.Popen(argv, env=dict(launch.variables), stdin=subprocess.DEVNULL, pass_fds=(tell,))
    os.close(tell)
    assert os.read(told, 100) == b"+started\n"
    while len(descendants(process.pid)) < 4:
        time.sleep(0.005)
    inside = descendants(process.pid)
    process.kill()
    process.wait()
    until = time.monotonic() + 2
    while count_alive(inside) and time.monotonic() < until:
        time.sleep(0.005)
    os.close(told)
    assert count_alive(inside) == 0
