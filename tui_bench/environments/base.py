"""What the engine asks of an environment, and what it gets back.

The engine speaks in mounts and commands and never learns which kind it runs on: a transport turns a command into the
argv to start, and says under which path each mount is seen inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

MEANS_NONE = "none"
"""Value of a capability or of `enforced` that nothing stands behind."""
CAPABILITIES = ("fs", "net", "procs", "mem", "cpu", "disk")

Why = Literal["exited", "timeout", "cancelled", "not_started", "owner_gone", "lost"]


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder an attempt may see. `role` is the name the engine asks its inside path by.

    Roles: `workspace` (the agent's repo, rw), `input` (prompt, ro), `output` (usage file, rw), `repo` and `oracle`
    (verify; rw and ro), `home`, `tmp`. In `local` the inside path is the host path.
    """

    role: str
    host: Path
    writable: bool


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use. None: no limit of ours."""

    wall_s: float
    grace_s: float = 2.0
    """Between TERM and KILL."""
    memory_mb: int | None = None
    cpus: float | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One process to run to its end, with all it starts.

    `argv` and `variables` already speak of inside paths; `cwd` is the role of a mount. stdin is closed; stdout and
    stderr go in order of arrival into one file of bounded size, `log`: its head, a line that names what was left out,
    and its tail.
    """

    argv: tuple[str, ...]
    cwd: str
    mounts: tuple[Mount, ...]
    variables: Mapping[str, str]
    """The whole environment: nothing is inherited."""
    log: Path
    limits: Limits
    network: Literal["open", "denied"] = "denied"
    readable: tuple[Path, ...] = ()
    """Further host paths that must be readable, at the same path inside."""
    head_bytes: int = 8 * 1024 * 1024
    tail_bytes: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Capture:
    """What became of the output. `total` bytes were written by the command, `kept` of them are in the log."""

    total: int = 0
    kept: int = 0
    stdout_tail: bytes = b""
    """The last 4,096 bytes of each stream, raw."""
    stderr_tail: bytes = b""

    @property
    def cut(self) -> bool:
        return self.kept < self.total


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended. Unknown is None. Times are milliseconds by a monotonic clock."""

    why: Why
    exit_code: int | None = None
    """Exit status of the command itself; None when it was killed or never ran."""
    signal: int | None = None
    wall_ms: int = 0
    cpu_ms: int | None = None
    peak_rss_bytes: int | None = None
    """Of all processes together where samples were taken (runs of half a second and more), else of the largest one; the
    supervisor's own 11 MB or so is the least that can be told."""
    peak_processes: int | None = None
    left_over_processes: int | None = None
    """Processes still alive when the command's first process had ended; all are dead now."""
    memory_exceeded: bool = False
    """Our own memory limit ended it."""
    detail: str | None = None
    """The system's own words when it did not start or was lost."""
    output: Capture = Capture()
    status: str = ""
    """What the transport's own processes said on their status descriptor; empty where it has none."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a transport starts a command on this host."""

    argv: tuple[str, ...]
    cwd: str
    """Host path."""
    variables: Mapping[str, str]
    own: int = 0
    """Processes at the top of the tree that belong to the transport; a polite TERM spares the first of them."""
    status: bool = False
    """Whether the transport speaks on descriptor 3."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in an environment. Only `hashed` enters env_sha."""

    hashed: Mapping[str, str]
    volatile: Mapping[str, str]


class Slot(Protocol):
    """One job slot: runs one command at a time and leaves no process behind, whatever happens to its owner."""

    async def run(self, launch: Launch, command: Command) -> Outcome: ...

    def cancel(self) -> None: ...

    async def close(self) -> None: ...


class Environment(Protocol):
    """One environment of a study, prepared once per run. `env_sha`, `facts`, `capabilities` are set by `prepare`."""

    name: str
    kind: str
    env_sha: str
    facts: Facts
    capabilities: Mapping[str, str]
    """capability -> means (`pidns`, `mountns`, `netns`, `rlimit`, `supervisor`, ...) or `none`."""
    notes: tuple[str, ...]
    """Weak means behind a control that was asked for, in words; known after `prepare`."""

    async def prepare(self) -> None:
        """Probe and gather facts. Raises EnvironmentUnavailable or ControlRefused."""
        ...

    def inside(self, mount: Mount) -> str:
        """Path under which a mount's folder is seen by the command."""
        ...

    def path_variable(self) -> str:
        """PATH for every command: base prefix of the interpreter, then the system's folders."""
        ...

    def enforced(self, command: Command) -> dict[str, str]:
        """For each capability what holds for this command: the means, or `none`."""
        ...

    async def run(self, slot: Slot, command: Command) -> Outcome: ...
