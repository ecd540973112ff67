"""How a command gets where it runs: an argv prefix, the paths it sees there, and how its end is read.

`Local` runs on this machine as this user. `Sandbox` runs it under bubblewrap with an allow-list of what it can see:
the system's programs, the interpreter, what the study names as readable, and the attempt's own folders. Everything
else (home, ledger, oracle, other attempts, the host's sockets and processes) does not exist inside.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

from tui_bench.environments.base import Command, Launch, Mount, Outcome
from tui_bench.environments.sandbox_cures import own_words
from tui_bench.environments.variables import base_prefix, search_path

TMP_BYTES = 1 << 30
"""Size of the sandbox's private /tmp, and of its /run."""
INSIDE = {
    "workspace": "/ws",
    "input": "/input",
    "output": "/output",
    "repo": "/verify/repo",
    "oracle": "/verify/oracle",
    "home": "/home/agent",
    "tmp": "/tmp/attempt",
}
"""The attempt's own TMPDIR lies below the private /tmp, so that a readable path in the host's /tmp has a place too."""
ETC = ("passwd", "group", "ld.so.cache", "alternatives", "ssl", "localtime")
ETC_FOR_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "services")
SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
OWN_PROCESSES = 2
"""bubblewrap's monitor, and the shell that reports."""
EXECUTABLE_MISSING = "+missing"
STARTED = "+started"
LEFT = "+left "
REPORTER = f"""exec 4>&2 2>&3
trap : TERM INT HUP
case $1 in */*) [ -f "$1" ] && [ -x "$1" ] ;; *) command -v -- "$1" >/dev/null ;; esac ||
  {{ echo '{EXECUTABLE_MISSING}' >&3; exit 127; }}
echo '{STARTED}' >&3
(exec "$@" 2>&4 3>&- 4>&-)
code=$?
set -- /proc/[0-9]*
left=$(($# - 1))
[ $left = 0 ] || for one; do
  line= ; read -r line <"$one/stat" && case $line in *') Z '*) false ;; esac || left=$((left - 1))
done
echo '{LEFT}'"$left" >&3
exit $code
"""
"""Process 1 inside: reaps orphans, runs the command, and tells what cannot be seen from outside: whether it started,
how many processes it left, and (in the shell's own words) that a signal killed it, which its exit code 128 + n alone
would not prove. As process 1 it cannot be killed from inside, and with it everything inside ends."""
SIGNALS = 64


class Transport(Protocol):
    """One kind of environment."""

    kind: str

    def inside(self, mount: Mount) -> str:
        """Path of a mount as the command sees it."""
        ...

    def path_variable(self) -> str:
        """PATH of every command."""
        ...

    def launch(self, command: Command) -> Launch:
        """What to start on this host. Raises FileNotFoundError for a folder that does not exist."""
        ...

    def read(self, outcome: Outcome, command: Command) -> Outcome:
        """The outcome of the command itself, from that of what was started."""
        ...


def host_folder(command: Command) -> Path:
    """Host path of the mount that the command starts in."""
    for mount in command.mounts:
        if mount.role == command.cwd:
            return mount.host
    raise ValueError(f"no mount has the role {command.cwd!r}")


def require(path: Path, what: str) -> Path:
    """The path itself. Raises FileNotFoundError with words for a person."""
    if not path.exists():
        raise FileNotFoundError(f"{what} {path} does not exist")
    return path


class Local:
    """The identity: same user, same files, same network. No isolation, and it does not claim any."""

    kind = "local"

    def inside(self, mount: Mount) -> str:
        return str(mount.host)

    def path_variable(self) -> str:
        return search_path()

    def launch(self, command: Command) -> Launch:
        for mount in command.mounts:
            require(mount.host, mount.role)
        return Launch(command.argv, str(host_folder(command)), command.variables)

    def read(self, outcome: Outcome, command: Command) -> Outcome:
        return outcome


@cache
def system_binds(network: bool) -> tuple[str, ...]:
    """What of the host's system is seen inside: /usr, and of /etc only what programs cannot do without."""
    words = ["--ro-bind", "/usr", "/usr"]
    for path in (Path("/", name) for name in SYSTEM_LINKS):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for path in (Path("/etc", name) for name in (*ETC, *(ETC_FOR_NETWORK if network else ()))):
        if path.exists():
            words += ["--ro-bind", str(path), str(path)]
    return tuple(words)


class Sandbox:
    """bubblewrap, found at `program`."""

    kind = "sandbox"

    def __init__(self, program: str) -> None:
        self.program = program

    def inside(self, mount: Mount) -> str:
        return INSIDE[mount.role]

    def path_variable(self) -> str:
        return search_path()

    def launch(self, command: Command) -> Launch:
        # Variables travel in the environment and not as --setenv, where every user of the host could read them in the
        # process list; only names that would act on bubblewrap itself must be kept from it.
        outside = {name: value for name, value in command.variables.items() if not name.startswith("LD_")}
        argv = [
            self.program,
            *self.recipe(command),
            *(
                word
                for name, value in command.variables.items()
                if name not in outside
                for word in ("--setenv", name, value)
            ),
            *("--", "/bin/sh", "-c", REPORTER, "sh", *command.argv),
        ]
        return Launch(tuple(argv), "/", outside, own=OWN_PROCESSES, status=True)

    def recipe(self, command: Command) -> Iterator[str]:
        """The options: namespaces, system, interpreter, readable paths, then the attempt's own folders."""
        yield "--unshare-all"
        if command.network == "open":
            yield "--share-net"
        yield from ("--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
        yield from system_binds(command.network == "open")
        size = ("--size", str(TMP_BYTES), "--tmpfs")
        yield from ("--proc", "/proc", "--dev", "/dev", *size, "/run", *size, "/tmp", "--dir", INSIDE["home"])
        # A later bind covers an earlier one: the home comes first, as readable paths may lie in a folder of that name.
        yield from self._binds(mount for mount in command.mounts if mount.role == "home")
        prefix = base_prefix()
        if not prefix.is_relative_to("/usr"):
            yield from ("--ro-bind", str(prefix), str(prefix))
        for path in dict.fromkeys(command.readable):
            yield from ("--ro-bind", str(require(path, "readable path")), str(path))
        yield from self._binds(mount for mount in command.mounts if mount.role != "home")
        yield from ("--as-pid-1", "--chdir", INSIDE[command.cwd])

    def _binds(self, mounts: Iterable[Mount]) -> Iterator[str]:
        for mount in mounts:
            yield "--bind" if mount.writable else "--ro-bind"
            yield from (str(require(mount.host, mount.role)), self.inside(mount))

    def read(self, outcome: Outcome, command: Command) -> Outcome:
        if outcome.why == "not_started":
            return outcome
        said = outcome.status.splitlines()
        if STARTED not in said:
            return self._not_started(outcome, command.argv[0] if EXECUTABLE_MISSING in said else None)
        counts = [int(line.removeprefix(LEFT)) for line in said if line.startswith(LEFT)]
        left = max(counts[0], 0) if counts else outcome.left_over_processes
        processes = max(outcome.peak_processes or 1, 1 + (left or 0))
        outcome = replace(outcome, left_over_processes=left, peak_processes=processes, status="")
        number = (outcome.exit_code or 0) - 128
        words = [line for line in said if not line.startswith("+")]
        if 0 < number <= SIGNALS and (words or outcome.why != "exited"):
            outcome = replace(outcome, exit_code=None, signal=number)
        return outcome

    def _not_started(self, outcome: Outcome, missing: str | None) -> Outcome:
        if outcome.why != "exited":
            return outcome  # cut off while it was starting
        if missing is not None:
            return Outcome(
                why="not_started", detail=f"{missing}: no such program inside the sandbox, or not executable"
            )
        words = own_words(outcome.output.stderr_tail)
        return Outcome(why="not_started", detail=words or f"{shlex.quote(self.program)} ended before the command began")
