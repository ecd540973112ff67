"""Who writes a ledger: a small file beside it, read only to name the owner in a message.

The lock on the ledger itself decides; this file may be stale or missing without harm.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds a ledger's lock. `since` is UTC, ISO 8601; `boot_id` is None where there is none."""

    pid: int
    host: str
    boot_id: str | None
    since: str
    run_id: str | None

    def __str__(self) -> str:
        run = f" (run {self.run_id})" if self.run_id else ""
        return f"process {self.pid} on {self.host} since {self.since}{run}"


def this_process(since: str, run_id: str | None) -> Owner:
    """This process as an owner."""
    return Owner(os.getpid(), socket.gethostname(), boot_id(), since, run_id)


def boot_id() -> str | None:
    """The kernel's id of this boot; None where it gives none."""
    try:
        return _BOOT_ID.read_text("ascii").strip() or None
    except OSError:
        return None


def owner_file(ledger: Path) -> Path:
    """`<ledger>.lock`."""
    return ledger.with_name(ledger.name + ".lock")


def write_owner(ledger: Path, owner: Owner) -> None:
    """Record the owner. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(owner_file(ledger), flags, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(owner), file)


def read_owner(ledger: Path) -> Owner | None:
    """The recorded owner; None when nothing readable is there."""
    try:
        with owner_file(ledger).open("rb") as file:
            value = json.loads(file.read(4096))
        return Owner(
            int(value["pid"]), str(value["host"]), value["boot_id"], str(value["since"]), value["run_id"]
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
