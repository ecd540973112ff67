"""One environment of a study: a transport, what it was found to be, and what it can enforce."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tui_bench.environments import facts as facts_module
from tui_bench.environments.base import CAPABILITIES, MEANS_NONE, Command, Facts, Limits, Mount, Outcome, Slot
from tui_bench.environments.cache import made_cache_folder
from tui_bench.environments.controls import Wanted, notes, refusals
from tui_bench.environments.probe import isolation
from tui_bench.environments.process_tree import LINUX
from tui_bench.environments.sandbox_cures import INSTALL, cure, own_words
from tui_bench.environments.supervisor import SupervisorSlot
from tui_bench.environments.transports import Local, Sandbox, Transport
from tui_bench.environments.variables import clean_variables
from tui_bench.errors import ControlRefused, EnvironmentUnavailable
from tui_bench.study import model

__all__ = ["ExecEnvironment", "Wanted", "open_environment"]

FACTS_S = 30.0
MEMORY_MEANS = "rlimit+sampler"
CPU_MEANS = "affinity"
TMP_MEANS = "tmpfs on /tmp only"
"""The sandbox bounds what is written there; the workspace itself is not bounded."""
NOTHING = dict.fromkeys(CAPABILITIES, MEANS_NONE)


class ExecEnvironment:
    """The `Environment` of the contract, for every kind that this version has.

    Before `prepare`, `env_sha` is empty and nothing is claimed. `notes` are sentences to show once; `unenforced` names
    the controls that do not hold although asked for, when the user allowed that.
    """

    def __init__(self, spec: model.Environment, wanted: Wanted) -> None:
        self.spec = spec
        self.wanted = wanted
        self.name = spec.name
        self.kind: str = spec.kind
        self.env_sha = ""
        self.facts = Facts({}, {})
        self.capabilities: Mapping[str, str] = NOTHING
        self.notes: tuple[str, ...] = ()
        self.unenforced: tuple[str, ...] = ()
        self._transport: Transport = Sandbox("bwrap") if spec.kind == "sandbox" else Local()

    async def prepare(self) -> None:
        """Probe and gather facts. Raises EnvironmentUnavailable or ControlRefused."""
        if self.kind not in ("local", "sandbox"):
            raise EnvironmentUnavailable(
                f"environment {self.name!r}: kind {self.kind!r} is not built into this version; use local or sandbox"
            )
        if self.kind == "sandbox":
            self._transport = Sandbox(self._find_program())
        slot = SupervisorSlot()
        try:
            await slot.start()
            with scratch(made_cache_folder()) as folder:
                self.capabilities = await self._probe(slot, folder)
            self._refuse_or_note()
            with scratch(self._workspace_parent()) as folder:
                self.facts = await self._gather(slot, folder)
        finally:
            await slot.close()
        self.env_sha = facts_module.env_sha(self.facts)

    def inside(self, mount: Mount) -> str:
        """Path under which a mount's folder is seen by the command."""
        return self._transport.inside(mount)

    def path_variable(self) -> str:
        """PATH for every command."""
        return self._transport.path_variable()

    def enforced(self, command: Command) -> dict[str, str]:
        """For each capability what holds for this command: the means, or `none`."""
        held = dict(self.capabilities)
        if command.network == "open":
            held["net"] = MEANS_NONE
        if command.limits.memory_mb is None:
            held["mem"] = MEANS_NONE
        if command.limits.cpus is None:
            held["cpu"] = MEANS_NONE
        return held

    async def run(self, slot: Slot, command: Command) -> Outcome:
        """Run one command on a job slot."""
        try:
            launch = self._transport.launch(command)
        except FileNotFoundError as error:
            return Outcome(why="not_started", detail=str(error))
        return self._transport.read(await slot.run(launch, command), command)

    def _find_program(self) -> str:
        found = shutil.which("bwrap")
        if found is None:
            raise EnvironmentUnavailable(f"environment {self.name!r} (sandbox): bwrap is not on PATH; {INSTALL}")
        return str(Path(found).absolute())

    async def _probe(self, slot: SupervisorSlot, folder: Path) -> dict[str, str]:
        """Capability -> means, by trying. For a sandbox that does not isolate it does not return."""
        supervised = ("supervisor+landlock" if slot.scoped else "supervisor") if slot.subreaper else "process group"
        weak = {"mem": MEMORY_MEANS, "cpu": CPU_MEANS} if LINUX else {}
        if not isinstance(self._transport, Sandbox):
            return {**NOTHING, "procs": supervised, **weak}
        found, failed = await isolation(slot, self._transport, folder, made_cache_folder())
        where = f"environment {self.name!r} (sandbox)"
        if found is None:
            words = failed_words(failed)
            raise EnvironmentUnavailable(f"{where} does not start: {words}; {cure(words)}")
        if not found.complete:
            raise ControlRefused(
                f"{where}: {self._transport.program} runs a command without isolating it ({found.lacking()}); "
                "put bubblewrap itself first on PATH, or use kind local"
            )
        return {**NOTHING, "fs": "mountns", "net": "netns", "procs": "pidns+supervisor", "disk": TMP_MEANS, **weak}

    def _refuse_or_note(self) -> None:
        refused = refusals(self.spec, self.wanted, self.capabilities)
        if refused and not self.wanted.even_unenforced:
            raise ControlRefused("; ".join(refused))
        self.unenforced = tuple(refused)
        self.notes = tuple(notes(self.spec, self.wanted, self.capabilities))

    def _workspace_parent(self) -> Path:
        """A writable folder on the file system of the workspaces; the cache folder wherever that is the same one."""
        cache = made_cache_folder()
        wished = self.spec.workspace
        for folder in (wished, *wished.parents) if wished is not None else ():
            if folder.is_dir():
                other = folder.stat().st_dev != cache.stat().st_dev
                return folder if other and os.access(folder, os.W_OK | os.X_OK) else cache
        return cache

    async def _gather(self, slot: Slot, folder: Path) -> Facts:
        mounts = tuple(Mount(role, folder / role, writable=True) for role in ("workspace", "home", "tmp"))
        for mount in mounts:
            mount.host.mkdir()
        inside = {mount.role: self.inside(mount) for mount in mounts}
        command = Command(
            argv=("sh", "-c", facts_module.script(), "facts", inside["workspace"]),
            cwd="workspace",
            mounts=mounts,
            variables=clean_variables(
                path=self.path_variable(), home=inside["home"], tmp=inside["tmp"], last=dict(self.spec.variables)
            ),
            log=folder / "facts.log",
            limits=Limits(wall_s=FACTS_S, cpus=self.spec.cpus or self.wanted.cpus),
            network="open" if self.spec.network == "open" else "denied",
        )
        outcome = await self.run(slot, command)
        if outcome.why != "exited" or outcome.exit_code != 0:
            raise EnvironmentUnavailable(f"environment {self.name!r}: no facts: {failed_words(outcome)}")
        return facts_module.with_settings(facts_module.parse(command.log.read_text("utf-8", "replace")), self.spec)


def failed_words(outcome: Outcome | None) -> str:
    """Why a command gave nothing, in the system's own words where there are any."""
    if outcome is None:
        return "no answer"
    words = outcome.detail or own_words(outcome.output.stderr_tail)
    if outcome.why == "timeout":
        return f"no answer in {outcome.wall_ms / 1000:.0f} s"
    return words or f"it ended with {outcome.exit_code if outcome.exit_code is not None else outcome.signal}"


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """An own folder, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix=".prepare-", dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


def open_environment(spec: model.Environment, *, wanted: Wanted | None = None) -> ExecEnvironment:
    """An environment of a study; nothing is started before its `prepare`."""
    return ExecEnvironment(spec, wanted or Wanted())
