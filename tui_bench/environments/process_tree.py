"""Processes of one command: reaping, counting, killing until none is left; and what the kernel lends for it.

Runs inside the supervisor program, so it imports the standard library only. "Everything below this program" is exact
on Linux: the program is a child subreaper, so a process that left its group, its session or its parent is still found.
Elsewhere the command's process group is all that can be reached.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

SWEEP_S = 10.0
"""How long killing may go on before the processes left (stuck in the kernel) are reported instead."""
LINUX = sys.platform.startswith("linux")
PAGE = resource.getpagesize()
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_SCOPE_SIGNAL = 2
LANDLOCK_ABI_WITH_SCOPES = 6


def load_libc() -> CDLL | None:
    """The C library, or None off Linux."""
    if not LINUX:
        return None
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def become_subreaper(libc: CDLL | None) -> bool:
    """Make orphans below this process its own children. False where the system has no such thing."""
    return libc is not None and libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def restrict_signals(libc: CDLL | None) -> bool:
    """Forbid this process and its children to signal anything outside (Landlock). False where there is no such thing.

    Without CAP_SYS_ADMIN the kernel grants it only together with no_new_privs.
    """
    if libc is None:
        return False
    import ctypes

    if libc.syscall(SYS_LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION) < LANDLOCK_ABI_WITH_SCOPES:
        return False
    no_files_no_ports_but_scope = (ctypes.c_uint64 * 3)(0, 0, LANDLOCK_SCOPE_SIGNAL)
    ruleset = libc.syscall(SYS_LANDLOCK_CREATE_RULESET, ctypes.byref(no_files_no_ports_but_scope), 24, 0)
    if ruleset < 0:
        return False
    try:
        if libc.syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0:
            return True
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(libc.syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def parse_stat(pid: int | str) -> list[bytes]:
    """Fields of procfs `stat` from the state (field 3 of proc(5)) on; empty when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()
    except OSError:
        return []


def children_by_scan() -> dict[int, list[int]]:
    """Children of every process by one pass over procfs; for kernels without the `children` files."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := parse_stat(name)):
            found.setdefault(int(fields[1]), []).append(int(name))
    return found


def children(pid: int) -> list[int]:
    """Direct children, of all its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as names:
                found += map(int, names.read().split())
    return found


HAS_CHILDREN_FILES = LINUX and os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def descendants(top: int, visit: Callable[[int], None] | None = None) -> list[int]:
    """All processes below `top`, parents first; `visit(pid)` is called before the process's children are read."""
    scan = {} if HAS_CHILDREN_FILES else children_by_scan()
    found: list[int] = []
    level = [top]
    while level:
        deeper: list[int] = []
        for pid in level:
            if visit is not None and pid != top:
                visit(pid)
            deeper += children(pid) if HAS_CHILDREN_FILES else scan.get(pid, [])
        found += deeper
        level = deeper
    return found


def count_alive(pids: list[int]) -> int:
    """How many of them are more than an exit status that nobody has fetched."""
    return sum(1 for pid in pids if parse_stat(pid)[:1] not in ([], [b"Z"], [b"X"]))


def send(pid: int, number: int) -> None:
    """Signal one process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def send_group(group: int, number: int) -> None:
    """Signal a process group that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class Tree:
    """All processes below this program while one command runs; `first` is the command itself.

    `cpu_s` and `peak_rss` (bytes) come from what each reaped process used, with what it had waited for itself, and
    from samples over the whole tree, whichever is more: a process killed together with its parent is reaped by nobody
    who would count it. Memory of less than this program's own cannot be told (the kernel counts it to the child until
    exec). `peak_processes` comes from samples.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.status: int | None = None
        self.reaped_cpu_s = 0.0
        self.sampled_cpu_s = 0.0
        self.peak_rss = 0
        self.peak_processes = 1

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all processes, user and system."""
        return max(self.reaped_cpu_s, self.sampled_cpu_s)

    def reap(self) -> bool:
        """Fetch every exit status there is. False when no child is left, and so no descendant either."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.reaped_cpu_s += used.ru_utime + used.ru_stime
            self.peak_rss = max(self.peak_rss, used.ru_maxrss * (1024 if LINUX else 1))
            if pid == self.first:
                self.status = status

    def ask_to_end(self, spare_first: bool) -> None:
        """TERM for everything, and CONT so that stopped processes hear it."""
        if not LINUX:
            send_group(self.first, signal.SIGTERM)
            send_group(self.first, signal.SIGCONT)
            return
        asked = [pid for pid in descendants(os.getpid()) if not (spare_first and pid == self.first)]
        for number in (signal.SIGTERM, signal.SIGCONT):
            for pid in asked:
                send(pid, number)

    def kill_once(self) -> None:
        """Stop everything top down, so that meanwhile nothing is born or reaped (and no pid reused); then kill it."""
        if not LINUX:
            send_group(self.first, signal.SIGKILL)
            return
        for pid in descendants(os.getpid(), lambda pid: send(pid, signal.SIGSTOP)):
            send(pid, signal.SIGKILL)

    def kill_until_none(self) -> int:
        """Kill until no child is left. Returns how many were still there after SWEEP_S."""
        if not LINUX:
            self.kill_once()
            return 0
        end = time.monotonic() + SWEEP_S
        pause = 0.0
        while self.reap():
            if time.monotonic() > end:
                return count_alive(descendants(os.getpid()))
            self.kill_once()
            time.sleep(pause)
            pause = min(0.005, pause + 0.0002)
        return 0

    def sample(self, own: int) -> int:
        """One pass over the tree, `own` processes of the transport not counted. Returns resident bytes together."""
        found = [fields for pid in descendants(os.getpid()) if (fields := parse_stat(pid))]
        together = sum(int(fields[21]) for fields in found) * PAGE
        ticks = sum(int(count) for fields in found for count in fields[11:15])
        self.sampled_cpu_s = max(self.sampled_cpu_s, self.reaped_cpu_s + ticks / TICKS_A_SECOND)
        self.peak_processes = max(self.peak_processes, len(found) - own)
        self.peak_rss = max(self.peak_rss, together)
        return together
