"""The program of one job slot: runs one command at a time and leaves no process behind.

Started once per slot, in its own session, by an interpreter without site-packages: standard library only. stdin is the
command pipe and the liveness pipe: when it ends, the owner is gone and everything still running is killed. Requests
and replies are JSON, one a line.

    {"do": "run", "id", "argv", "cwd", "env", "log", "head_bytes", "tail_bytes", "wall_s", "grace_s",
     "memory_mb", "cpus": [..], "status": bool, "spare_first": bool, "own": int}    -> one reply with the same id
    {"do": "cancel", "id"}                               -> ends the command with this id; no reply of its own

`status` gives the command descriptor 3, and the reply what was written there. `spare_first` keeps TERM from the first
process (a sandbox's monitor would take all others with it). `own` processes belong to the transport.

Two processes: a guardian, and the worker that serves. Both are child subreapers: whatever a command leaves behind (own
session, double fork, cleared environment) becomes the worker's child, or the guardian's when a command has killed the
worker. Where the kernel can scope signals, the worker and its commands cannot signal anything outside, the guardian
and the owner included. The invariant: a reply is written, and the program ends, only when no descendant is left.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import select
import signal
import time
from collections.abc import Iterator
from typing import Any

from tui_bench.environments.capped_output import CHUNK, CappedLog, Stream, read_rest
from tui_bench.environments.process_tree import (
    LINUX,
    Tree,
    become_subreaper,
    count_alive,
    descendants,
    load_libc,
    restrict_signals,
)

SAMPLE_S = 0.5
SETTLE_S = 0.1
MEMORY_SAMPLE_S = 0.1
"""Period of samples where a memory limit stands on them."""
STATUS_FD = 3
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
RESTORED = (*IGNORED, signal.SIGXFSZ)
"""Ignored by this program, but not by the commands."""


def find_program(name: str, env: dict[str, str]) -> str:
    """Where the command's own PATH finds a program. Raises OSError with the words that exec would use."""
    if "/" in name:
        return name
    number = errno.ENOENT
    for folder in env.get("PATH", "").split(":"):
        path = os.path.join(folder or ".", name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            number = errno.EACCES
    raise OSError(number, os.strerror(number), name)


@contextlib.contextmanager
def lent_limits(memory_mb: int | None, cpus: list[int] | None) -> Iterator[None]:
    """Take the command's limits upon this program while it spawns, so that there is no moment without them."""
    data = resource.getrlimit(resource.RLIMIT_DATA)
    affinity = os.sched_getaffinity(0) if cpus and LINUX else set[int]()
    try:
        if memory_mb:
            resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, data[1]))
        if affinity:
            os.sched_setaffinity(0, cpus or ())
        yield
    finally:
        if memory_mb:
            resource.setrlimit(resource.RLIMIT_DATA, data)
        if affinity:
            os.sched_setaffinity(0, affinity)


def spawn(request: dict[str, Any], descriptors: list[int]) -> int:
    """Start the command in its own session; it gets these descriptors as 0, 1, 2 (and 3) and no others."""
    os.chdir(request["cwd"])
    path = find_program(request["argv"][0], request["env"])
    actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in enumerate(descriptors)]
    memory_mb = request.get("memory_mb")
    with lent_limits(memory_mb, request.get("cpus")):
        pid = os.posix_spawn(
            path, request["argv"], request["env"],
            file_actions=actions, setsid=True, setsigmask=[], setsigdef=RESTORED,
        )  # fmt: skip
    if memory_mb and hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError):  # may have ended already
            resource.prlimit(pid, resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
    return pid


class Running:
    """One command from request to reply. Raises OSError when it cannot be started; nothing is open then."""

    def __init__(self, request: dict[str, Any], null: int) -> None:
        self.request = request
        self.own = int(request.get("own", 0))
        self.why = "exited"
        self.memory_exceeded = False
        self.kill_at: float | None = None
        self.killed_others: int | None = None
        with contextlib.ExitStack() as undo:
            self.log = CappedLog(request["log"], request["head_bytes"], request["tail_bytes"])
            undo.callback(self.log.close)
            readers, writers = zip(*(os.pipe() for _ in range(3 if request.get("status") else 2)), strict=True)
            for reader in readers:
                undo.callback(os.close, reader)
            self.started = time.monotonic()
            try:
                self.tree = Tree(spawn(request, [null, *writers]))
            finally:
                for writer in writers:
                    os.close(writer)
            undo.pop_all()
        self.streams = [Stream(reader) for reader in readers[:2]]
        self.status_reader = readers[2] if len(readers) > 2 else None

    def stop(self, why: str) -> None:
        """TERM now, KILL after the grace. A second call changes nothing."""
        if self.kill_at is None:
            self.why = why
            self.kill_at = time.monotonic() + self.request["grace_s"]
            self.tree.ask_to_end(bool(self.request.get("spare_first")))

    def kill(self, why: str | None = None) -> None:
        """KILL at once."""
        self.why = why or self.why
        self.kill_at = time.monotonic()

    def sample(self) -> None:
        """Look at the whole tree; a memory limit is kept here for all processes together."""
        together = self.tree.sample(self.own)
        limit = self.request.get("memory_mb")
        if limit and together > limit << 20:
            self.memory_exceeded = True
            self.kill()

    def count_others(self) -> int:
        """Living processes of the command besides its first; the transport's own are not the command's."""
        others = [pid for pid in descendants(os.getpid()) if pid != self.tree.first] if LINUX else []
        return max(0, count_alive(others) - self.own)

    def settle(self, worker: Worker) -> None:
        """A transport's processes end with its first: wait for that a moment, rather than search for them at once."""
        end = time.monotonic() + SETTLE_S
        while self.tree.reap() and (left := end - time.monotonic()) > 0:
            worker.wait(self, left)

    def until_first_ends(self, worker: Worker) -> None:
        """Pump, watch the clock and the owner, until the first process has been reaped."""
        wall_at = self.started + self.request["wall_s"]
        period = MEMORY_SAMPLE_S if self.request.get("memory_mb") else SAMPLE_S
        sample_at = self.started + period if LINUX else float("inf")
        while self.tree.status is None:
            now = time.monotonic()
            if self.kill_at is None and now >= wall_at:
                self.stop("timeout")
            if self.kill_at is not None and now >= self.kill_at:
                if self.killed_others is None:
                    self.killed_others = self.count_others()
                self.tree.kill_once()
            elif now >= sample_at:
                self.sample()
                sample_at = now + period
            due = min(sample_at, wall_at if self.kill_at is None else max(self.kill_at, now + 0.005))
            worker.wait(self, max(0.0, due - now))
            self.tree.reap()

    def run(self, worker: Worker) -> dict[str, Any]:
        """The reply. What the command left behind is counted and killed; then the rest of its output is read."""
        self.until_first_ends(worker)
        wall_ms = round((time.monotonic() - self.started) * 1000)
        left = self.killed_others
        if self.own:
            self.settle(worker)
        elif left is None:
            left = self.count_others() if self.tree.reap() else 0
        stuck = self.tree.kill_until_none()
        for stream in self.streams:
            # Every writer is dead: what there is to come is in the pipe, and an empty pipe ends it.
            while stream.open and stream.pump(self.log, worker.buffer):
                pass
        return self.reply(wall_ms, left or 0, stuck)

    def reply(self, wall_ms: int, left: int, stuck: int) -> dict[str, Any]:
        """Close everything and put the answer together."""
        status = b"" if self.status_reader is None else read_rest(self.status_reader)
        self.log.close()
        for stream in self.streams:
            stream.close()
        if self.status_reader is not None:
            os.close(self.status_reader)
        ended = self.tree.status or 0
        return {
            "why": self.why,
            "exit_code": os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None,
            "signal": os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else None,
            "wall_ms": wall_ms,
            "cpu_ms": round(self.tree.cpu_s * 1000),
            "peak_rss_bytes": self.tree.peak_rss,
            "peak_processes": max(self.tree.peak_processes, 1 + left),
            "left_over_processes": left if LINUX else None,
            "memory_exceeded": self.memory_exceeded,
            "detail": f"{stuck} processes could not be killed" if stuck else self.log.error,
            "status": status.decode("latin-1"),
            "total": self.log.total,
            "kept": self.log.kept,
            "stdout_tail": self.streams[0].tail.decode("latin-1"),
            "stderr_tail": self.streams[1].tail.decode("latin-1"),
        }


class Worker:
    """Reads requests, runs them one after the other, writes replies."""

    def __init__(self, null: int) -> None:
        self.null = null
        self.buffer = bytearray(CHUNK)
        self.unfinished_line = b""
        self.owner_gone = False
        self.wake, waker = os.pipe()
        for fd in (self.wake, waker):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def send(self, message: dict[str, Any]) -> None:
        """One line to the owner, if there still is one."""
        data = json.dumps(message).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(1, data) :]

    def read_requests(self) -> list[dict[str, Any]]:
        """Requests whose line is complete; notes the end of the pipe."""
        data = os.read(0, 65536)
        if not data:
            self.owner_gone = True
        *lines, self.unfinished_line = (self.unfinished_line + data).split(b"\n")
        return [json.loads(line) for line in lines if line]

    def wait(self, running: Running, seconds: float) -> None:
        """Sleep until there is output, a request, an ended child, or the time is up; take in what came."""
        streams = {stream.fd: stream for stream in running.streams if stream.open}
        poll = select.poll()
        for fd in (self.wake, *streams, *(() if self.owner_gone else (0,))):
            poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(min(seconds, 3600.0) * 1000 + 0.5):
            if fd in streams:
                streams[fd].pump(running.log, self.buffer)
            elif fd == self.wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(fd, 4096)
            else:
                self.hear(running)

    def hear(self, running: Running) -> None:
        """What the owner says while a command runs: cancel it, or nothing ever again."""
        for request in self.read_requests():
            if request["do"] == "cancel" and request["id"] == running.request["id"]:
                running.stop("cancelled")
        if self.owner_gone:
            running.kill("owner_gone")

    def serve(self, features: dict[str, Any]) -> None:
        """Until the owner closes the pipe, or is gone."""
        self.send(features)
        while not self.owner_gone:
            requests = self.read_requests()
            cancelled = {request["id"] for request in requests if request["do"] == "cancel"}
            for request in requests:
                if request["do"] == "run":  # a cancel of another id crossed its reply
                    self.send({"id": request["id"], **self.answer(request, request["id"] in cancelled)})

    def answer(self, request: dict[str, Any], cancelled: bool) -> dict[str, Any]:
        """Run one request; a command that cannot be started is an answer too. `cancelled`: its end came with it."""
        try:
            running = Running(request, self.null)
        except (OSError, ValueError) as error:
            where = getattr(error, "filename", None) or request["argv"][0]
            return {"why": "not_started", "detail": f"{where}: {getattr(error, 'strerror', None) or error}"}
        finally:
            os.chdir("/")
        if cancelled:
            running.stop("cancelled")
        return running.run(self)


def guard(worker: int, null: int) -> None:
    """Wait for the worker to end, then kill whatever it could not.

    A worker that somebody stopped would keep no time limit and hear no cancel: it is ended, and its owner sees that.
    """
    os.dup2(null, 0)
    os.dup2(null, 1)
    while True:
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if pid == worker and os.WIFSTOPPED(status):
            os.kill(worker, signal.SIGKILL)
        elif pid == worker:
            break
    Tree(0).kill_until_none()


def main() -> None:
    """Fork into guardian and worker."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    libc = load_libc()
    become_subreaper(libc)
    worker = os.fork()
    if worker:
        guard(worker, null)
        return
    features = {"ready": os.getpid(), "subreaper": become_subreaper(libc), "scoped": restrict_signals(libc)}
    Worker(null).serve(features)
