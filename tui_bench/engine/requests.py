"""Requests to a running runner: one JSON object a line over the run's unix socket.

Request `{"do": ..., "arg": ..., "id": ...}`, answer
`{"ok", "id", "state", "running", "queued", "jobs", "error"}`. The socket lies in a folder that only the user can
enter; its path, with the runner's pid and start time, is in `runner.json` in the run's files folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tui_bench.engine import host
from tui_bench.errors import RunnerError

DO = ("status", "pause", "resume", "jobs", "stop", "cancel", "rerun", "rerun_flips")
LINE_LIMIT = 64 * 1024
ANSWER_S = 10.0

Handler = Callable[[str, Any], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class RunnerFile:
    """Contents of `runner.json`."""

    run_id: str
    ledger: str
    socket: str
    pid: int
    start_time: int | None
    host: str
    boot_id: str | None

    def write(self, path: Path) -> None:
        """Replace the file in one step, so that a reader never meets half of it."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self), sort_keys=True), "utf-8")
        fresh.replace(path)

    @classmethod
    def read(cls, path: Path) -> RunnerFile | None:
        """None where no runner ever wrote one or it cannot be understood."""
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    @property
    def alive(self) -> bool:
        """Whether that very process still runs on this machine since the same boot."""
        same_place = self.host == host.host_name() and self.boot_id == host.boot_id()
        return same_place and host.alive(self.pid, self.start_time)


def socket_path(run_id: str) -> Path:
    """A short path (unix sockets allow about 100 bytes) in a folder of the user's own, mode 0700."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    usable = base is not None and os.access(base, os.W_OK) and len(base) < 40
    parent = Path(base) if base is not None and usable else Path(tempfile.gettempdir())
    folder = parent / f"tui_bench-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = folder.lstat()
    if seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
        raise RunnerError(f"{folder}: belongs to somebody else or is open to others; remove it or set XDG_RUNTIME_DIR")
    return folder / f"{run_id}.sock"


class RequestServer:
    """Answers requests while a run goes on. `handler(do, arg)` gives the answer's fields or raises RunnerError."""

    def __init__(self, path: Path, handler: Handler) -> None:
        self._path = path
        self._handler = handler
        self._server: asyncio.AbstractServer | None = None

    async def start(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        self._server = await asyncio.start_unix_server(self._serve, str(self._path), limit=LINE_LIMIT)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                answer = await self._answer(line)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # the peer left, or sent a line above the limit: nothing to answer
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            do, arg, ident = request["do"], request.get("arg"), request.get("id")
        except (ValueError, TypeError, KeyError, AttributeError):
            return {"ok": False, "id": None, "error": 'a request is one line: {"do": ..., "arg": ..., "id": ...}'}
        if do not in DO:
            return {"ok": False, "id": ident, "error": f"unknown request {do!r}; known: {', '.join(DO)}"}
        try:
            return {"ok": True, "id": ident, "error": None, **await self._handler(do, arg)}
        except RunnerError as error:
            return {"ok": False, "id": ident, "error": str(error)}


class RequestClient:
    """Sends requests to the runner that `runner.json` names."""

    def __init__(self, runner_file: Path) -> None:
        self._runner_file = runner_file
        self._count = 0

    @property
    def alive(self) -> bool:
        """Whether the runner process still exists."""
        found = RunnerFile.read(self._runner_file)
        return found is not None and found.alive

    async def request(self, do: str, arg: object = None) -> dict[str, Any]:
        """The runner's answer. Raises RunnerError when none answers or it refuses."""
        found = RunnerFile.read(self._runner_file)
        if found is None or not found.alive:
            raise RunnerError(f"{self._runner_file.parent}: no runner is alive; `tui-bench resume` goes on")
        self._count += 1
        body = json.dumps({"do": do, "arg": arg, "id": str(self._count)}).encode() + b"\n"
        try:
            answer = await asyncio.wait_for(self._exchange(found.socket, body), ANSWER_S)
        except (TimeoutError, OSError, ValueError) as error:
            raise RunnerError(f"{found.socket}: the runner (pid {found.pid}) does not answer: {error}") from error
        if not answer.get("ok"):
            raise RunnerError(str(answer.get("error")))
        return answer

    @staticmethod
    async def _exchange(path: str, body: bytes) -> dict[str, Any]:
        reader, writer = await asyncio.open_unix_connection(path, limit=LINE_LIMIT)
        try:
            writer.write(body)
            await writer.drain()
            answer: dict[str, Any] = json.loads(await reader.readline())
            return answer
        finally:
            writer.close()
