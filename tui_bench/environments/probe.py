"""Does this bubblewrap really isolate? Found out by doing: the recipe is run once with a self-test inside.

The answer is kept per host, boot and program, so that only the first run after a boot or an upgrade pays for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from tui_bench.environments.base import Command, Limits, Mount, Outcome, Slot
from tui_bench.environments.transports import Sandbox
from tui_bench.environments.variables import base_prefix, clean_variables

VERSION = 1
"""Of recipe and self-test: a kept answer of another version is not used."""
PROBE_S = 20.0
SELF_TEST = """
import os, socket, sys
canary, port, pid_namespace, net_namespace = sys.argv[1:]
def fails(action, *words):
    try:
        action(*words)
    except OSError:
        return True
    return False
def same(kind, host):
    return os.readlink("/proc/self/ns/" + kind) == host
read_only = bool(os.statvfs("/usr").f_flag & os.ST_RDONLY)
fs = fails(os.listdir, canary) and fails(open, canary + "/written", "x") and read_only
net = fails(socket.create_connection, ("127.0.0.1", int(port)), 2) and not same("net", net_namespace)
procs = os.getpid() < 100 and not same("pid", pid_namespace)
print("fs=%d net=%d procs=%d" % (fs, net, procs))
"""


@dataclass(frozen=True, slots=True)
class Isolation:
    """What the self-test found to hold."""

    fs: bool
    net: bool
    procs: bool

    @property
    def complete(self) -> bool:
        return self.fs and self.net and self.procs

    def lacking(self) -> str:
        """In words, what does not hold."""
        words = {"fs": "host files are reachable", "net": "the host's network is", "procs": "host processes are"}
        return ", ".join(text for name, text in words.items() if not getattr(self, name))


def python_path() -> str:
    """The real interpreter, which the sandbox can see."""
    return str(base_prefix() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def kept_answer(cache: Path, program: str) -> Path:
    """File of the answer for this program on this host since its last boot."""
    status = os.stat(program)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    identity = (VERSION, boot, program, status.st_mtime_ns, status.st_size, os.geteuid(), python_path())
    return cache / f"sandbox-{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}.json"


def recall(answer: Path) -> Isolation | None:
    """A kept answer, None where there is none that can be read."""
    try:
        return Isolation(**json.loads(answer.read_text(encoding="ascii")))
    except (OSError, ValueError, TypeError):
        return None


async def isolation(slot: Slot, sandbox: Sandbox, folder: Path, cache: Path) -> tuple[Isolation | None, Outcome | None]:
    """What holds in this sandbox; the outcome instead where it could not be started.

    `folder` is an empty one of the caller's; `cache` keeps answers and is made when missing.
    """
    answer = kept_answer(cache, sandbox.program)
    known = recall(answer)
    if known is not None:
        return known, None
    outcome = await run_self_test(slot, sandbox, folder)
    words = outcome.output.stdout_tail.decode("ascii", "replace").split()
    found = dict(word.split("=") for word in words if word.count("=") == 1)
    if outcome.why != "exited" or set(found) != {"fs", "net", "procs"}:
        return None, outcome
    result = Isolation(**{name: value == "1" for name, value in found.items()})
    if result.complete:
        answer.write_text(json.dumps(asdict(result)), encoding="ascii")
    return result, None


async def run_self_test(slot: Slot, sandbox: Sandbox, folder: Path) -> Outcome:
    """Run the recipe with the self-test inside, a listener on this host's loopback, and a canary it must not see."""
    canary = folder / "canary"
    canary.mkdir()
    mounts = tuple(Mount(role, folder / role, writable=True) for role in ("workspace", "home"))
    for mount in mounts:
        mount.host.mkdir()
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    namespaces = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "net")]
    command = Command(
        argv=(python_path(), "-I", "-S", "-c", SELF_TEST, str(canary), str(port), *namespaces),
        cwd="workspace",
        mounts=mounts,
        variables=clean_variables(path=sandbox.path_variable(), home="/home/agent", tmp="/tmp"),
        log=folder / "probe.log",
        limits=Limits(wall_s=PROBE_S),
    )
    try:
        return sandbox.read(await slot.run(sandbox.launch(command), command), command)
    finally:
        server.close()
        await server.wait_closed()
