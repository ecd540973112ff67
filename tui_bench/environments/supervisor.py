"""The owner's side of a job slot: starts the supervisor program and speaks its protocol from an event loop.

The invariant: `run` returns only when no process of the command is left, whatever happened to the supervisor; a
supervisor that dies gives `lost`, and the next `run` starts a fresh one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tui_bench.environments.base import Capture, Command, Launch, Outcome
from tui_bench.errors import EnvironmentUnavailable

PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
PROGRAM = "import sys; sys.path.append({root!r}); from tui_bench.environments import supervisor_program as p; p.main()"
START_S = 20.0
CLOSE_S = 15.0
"""Longer than the program's own limit for killing what is left."""
OUT_OF_MEMORY = re.compile(rb"MemoryError|Cannot allocate memory|bad_alloc|[Oo]ut of memory|OutOfMemory")
"""How programs say that the system refused them memory."""


def base_interpreter() -> str:
    """The real interpreter, also where this one runs from a virtual environment."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


class SupervisorSlot:
    """One job slot, the `Slot` of the contract.

    `number` spreads slots with few CPUs over the machine; by default slots are numbered as they are made.
    `scoped`: commands cannot signal anything outside. `subreaper`: processes that left their group are found too.
    Both are known after the first `start`.
    """

    _numbers = itertools.count()

    def __init__(self, number: int | None = None) -> None:
        self.number = next(self._numbers) if number is None else number
        self.scoped = False
        self.subreaper = False
        self._process: subprocess.Popen[bytes] | None = None
        self._requests = -1
        self._replies = -1
        self._ended = False
        self._closing = False
        self._ids = itertools.count(1)
        self._current: int | None = None
        self._cancelled = False
        self._sent = False
        """A cancel is written neither before the request nor into the middle of it."""
        self._answer: asyncio.Future[dict[str, Any] | None] | None = None
        self._line = bytearray()

    @property
    def pid(self) -> int | None:
        """Process id of the running supervisor."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the program; nothing to do where it runs. Raises EnvironmentUnavailable."""
        if self._process is not None and not self._ended:
            self._readable()  # an idle one may have ended since the loop last looked
        if self._process is not None and not self._ended and self._process.poll() is None:
            return
        await self._bury()
        self._spawn()
        self._answer = asyncio.get_running_loop().create_future()
        try:
            features = await asyncio.wait_for(self._answer, START_S)
        except TimeoutError:
            features = None
        if features is None:
            await self.close()
            raise EnvironmentUnavailable(f"no supervisor starts with {base_interpreter()} -I -S")
        self.scoped = bool(features["scoped"])
        self.subreaper = bool(features["subreaper"])

    async def run(self, launch: Launch, command: Command) -> Outcome:
        """Run one command to its end. Raises EnvironmentUnavailable when no supervisor starts."""
        if self._current is not None:
            raise RuntimeError("a slot runs one command at a time")
        self._current = next(self._ids)
        self._cancelled = False
        self._sent = False
        try:
            await self.start()
            if self._cancelled:
                return Outcome(why="cancelled")
            self._answer = asyncio.get_running_loop().create_future()
            await self._send(self._request(launch, command))
            self._open_for_cancel()
            reply = await self._answer
        except asyncio.CancelledError:
            await asyncio.shield(self.close())
            raise
        finally:
            self._current, self._sent = None, False
        if reply is not None:
            return outcome_of(reply, command)
        closing = self._closing
        ended = describe_end(await self._bury())
        if closing:
            return Outcome(why="owner_gone", detail="the job slot was closed while the command ran")
        return Outcome(why="lost", detail=f"the job slot's supervisor ended while the command ran ({ended})")

    def cancel(self) -> None:
        """End the running command: TERM, grace, KILL. `run` then returns `cancelled`. Nothing to do when idle."""
        self._cancelled = True
        if self._sent and self._requests >= 0:
            with contextlib.suppress(OSError):
                os.write(self._requests, encode({"do": "cancel", "id": self._current}))

    def _open_for_cancel(self) -> None:
        self._sent = True
        if self._cancelled:
            self.cancel()

    async def close(self) -> None:
        """End the program and everything that still runs in it."""
        self._closing = True
        self._close_requests()
        await self._bury()
        self._closing = False

    def _spawn(self) -> None:
        """Start the program and listen to it."""
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            self._process = subprocess.Popen(
                [base_interpreter(), "-I", "-S", "-X", "utf8", "-c", PROGRAM.format(root=PACKAGE_ROOT)],
                stdin=theirs_in, stdout=theirs_out, stderr=subprocess.DEVNULL, start_new_session=True, cwd="/", env={},
            )  # fmt: skip
        except OSError as error:
            os.close(ours_in)
            os.close(ours_out)
            raise EnvironmentUnavailable(f"no supervisor starts: {error}") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._requests, self._replies, self._ended = ours_out, ours_in, False
        self._line.clear()
        os.set_blocking(self._requests, False)
        os.set_blocking(self._replies, False)
        asyncio.get_running_loop().add_reader(self._replies, self._readable)

    def _request(self, launch: Launch, command: Command) -> bytes:
        limits = command.limits
        return encode({
            "do": "run", "id": self._current, "argv": launch.argv, "cwd": launch.cwd, "env": dict(launch.variables),
            "log": str(command.log), "head_bytes": command.head_bytes, "tail_bytes": command.tail_bytes,
            "wall_s": limits.wall_s, "grace_s": limits.grace_s, "memory_mb": limits.memory_mb,
            "cpus": choose_cpus(limits.cpus, self.number), "status": launch.status,
            "spare_first": launch.own > 0, "own": launch.own,
        })  # fmt: skip

    async def _send(self, data: bytes) -> None:
        while data and self._requests >= 0:
            try:
                data = data[os.write(self._requests, data) :]
            except BlockingIOError:
                await writable(self._requests)
            except BrokenPipeError:
                return  # the end of the replies is the answer

    def _readable(self) -> None:
        try:
            data = os.read(self._replies, 1 << 18)
        except BlockingIOError:
            return
        self._line += data
        if not data:
            self._ended = True
            asyncio.get_running_loop().remove_reader(self._replies)
            self._deliver(None)
        elif self._line.endswith(b"\n"):
            reply = json.loads(self._line)
            self._line.clear()
            self._deliver(reply)

    def _deliver(self, reply: dict[str, Any] | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(reply)

    def _close_requests(self) -> None:
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    async def _bury(self) -> int | None:
        """Wait until the program, guardian included, has ended; it ends only when nothing below it is left."""
        process = self._process
        if process is None:
            return None
        self._close_requests()
        clock = asyncio.get_running_loop().time
        deadline = clock() + CLOSE_S
        pause = 0.001
        while process.poll() is None and clock() < deadline:
            await asyncio.sleep(pause)
            pause = min(0.05, pause * 1.5)
        if process.poll() is None:
            process.kill()
            process.wait()
        if self._process is process:
            asyncio.get_running_loop().remove_reader(self._replies)
            os.close(self._replies)
            self._process, self._replies = None, -1
            self._deliver(None)
        return process.returncode


def encode(message: dict[str, Any]) -> bytes:
    """One line of JSON."""
    return json.dumps(message).encode() + b"\n"


async def writable(fd: int) -> None:
    """Until a pipe takes bytes again."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(fd)


def describe_end(code: int | None) -> str:
    """An exit status in words."""
    if code is None:
        return "unknown status"
    return f"signal {-code}" if code < 0 else f"exit {code}"


def choose_cpus(wanted: float | None, slot: int) -> list[int] | None:
    """CPUs for a command, taken in turn so that slots share as few as possible. None: no limit, or no means here."""
    if wanted is None or not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    count = min(len(usable), max(1, int(wanted)))
    return [usable[(slot * count + offset) % len(usable)] for offset in range(count)]


def outcome_of(reply: dict[str, Any], command: Command) -> Outcome:
    """The contract's value from the program's reply."""
    if reply["why"] == "not_started":
        return Outcome(why="not_started", detail=reply["detail"])
    stdout_tail = reply["stdout_tail"].encode("latin-1")
    stderr_tail = reply["stderr_tail"].encode("latin-1")
    refused = (
        command.limits.memory_mb is not None
        and reply["exit_code"] != 0
        and reply["why"] == "exited"
        and OUT_OF_MEMORY.search(stdout_tail + stderr_tail) is not None
    )
    return Outcome(
        why=reply["why"],
        exit_code=reply["exit_code"],
        signal=reply["signal"],
        wall_ms=reply["wall_ms"],
        cpu_ms=reply["cpu_ms"],
        peak_rss_bytes=reply["peak_rss_bytes"],
        peak_processes=reply["peak_processes"],
        left_over_processes=reply["left_over_processes"],
        memory_exceeded=reply["memory_exceeded"] or refused,
        detail=reply["detail"],
        output=Capture(reply["total"], reply["kept"], stdout_tail, stderr_tail),
        status=reply["status"],
    )
