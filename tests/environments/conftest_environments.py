"""Commands for a job slot, and a look at what runs on the machine."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from tui_bench.environments.base import Command, Limits, Mount, Outcome
from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.environments.transports import Transport
from tui_bench.environments.variables import clean_variables

LINUX = sys.platform.startswith("linux")
BWRAP = shutil.which("bwrap")


@dataclass
class Bench:
    """Runs commands in one transport, each with a log of its own in `folder`."""

    folder: Path
    slot: SupervisorSlot
    transport: Transport
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    count: int = 0

    @property
    def log(self) -> Path:
        """Of the newest command."""
        return self.folder / f"{self.count}.log"

    def command(self, *argv: str, **more: object) -> Command:
        """`sh -c` for a single word. `MARK` in it becomes a word that only processes of this test carry."""
        self.count += 1
        words = tuple(word.replace("MARK", self.mark) for word in (argv if len(argv) > 1 else ("sh", "-c", *argv)))
        mounts = tuple(Mount(role, self.folder / role, writable=True) for role in ("repo", "home", "tmp"))
        for mount in mounts:
            mount.host.mkdir(exist_ok=True)
        inside = {mount.role: self.transport.inside(mount) for mount in mounts}
        limits = {name: more.pop(name) for name in ("wall_s", "grace_s", "memory_mb", "cpus") if name in more}
        variables = clean_variables(path=self.transport.path_variable(), home=inside["home"], tmp=inside["tmp"])
        values: dict[str, object] = {
            "cwd": "repo", "mounts": mounts, "variables": variables, "log": self.log,
            "limits": Limits(**{"wall_s": 20.0, "grace_s": 0.3, **limits}),  # type: ignore[arg-type]
        }  # fmt: skip
        return Command(argv=words, **{**values, **more})  # type: ignore[arg-type]

    async def start(self, command: Command) -> Outcome:
        return self.transport.read(await self.slot.run(self.transport.launch(command), command), command)

    async def run(self, *argv: str, **more: object) -> Outcome:
        return await self.start(self.command(*argv, **more))

    def marked(self) -> list[int]:
        """Processes on this machine whose command line carries the mark; zombies have none."""
        return marked(self.mark)


def marked(mark: str) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(int(name))
    return found
