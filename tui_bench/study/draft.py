"""A study before its defaults: what the files say, and the one place that turns it into a Study."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from tui_bench.errors import UsageError
from tui_bench.study.agents import command_line_agent
from tui_bench.study.identity import study_digest
from tui_bench.study.model import Agent, Controls, Dimension, Environment, Gate, Order, Study, Subject, Task
from tui_bench.study.reading import Reading, printable, show

SUBJECTS: tuple[Subject, ...] = ("clean", "reference", "patch", "agent")
LIVE_ATTEMPTS, FROZEN_ATTEMPTS = 3, 2
LIVE_REPLAYS, FROZEN_REPLAYS = 2, 1
SECRET_NAME = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
SECRET_IN_THE_OPEN = "env.{name} stands in the ledger as it is; a secret belongs in the agent's pass_env"
"""The columns of envs.tsv are facts of the environment, so their values are recorded."""
NO_DIMENSION = "no dimension is declared: what differs between the environments is listed, and not judged"
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Draft:
    """None stands for what was not written down."""

    id: str
    root: Path
    file: Path
    tasks: tuple[Task, ...]
    environments: tuple[Environment, ...]
    agents: tuple[Agent, ...] = ()
    subject: Subject | None = None
    attempts: int | None = None
    verify_replays: int | None = None
    jobs: int | None = None
    dimension: Dimension | None = None
    controls: Controls | None = None
    order: Order | None = None
    gate: Gate | None = None
    claim: Path | None = None
    notes: tuple[str, ...] = ()

    def study(self, reading: Reading) -> Study:
        """The study with its defaults and digest. Raises StudyError with all that `reading` noted."""
        subject = self.subject or self._default_subject()
        if subject == "patch":
            reading.problem(self.file, None, "subject: patch is not available in this version; use agent or reference")
        self._check(subject, reading)
        reading.finish()
        live = subject == "agent"
        required = self.controls.replay_required if self.controls else None
        replays = LIVE_REPLAYS if live else FROZEN_REPLAYS
        study = Study(
            id=self.id,
            root=self.root,
            file=self.file,
            tasks=self.tasks,
            environments=self.environments,
            agents=self.agents if live else (),
            subject=subject,
            attempts=self.attempts or required or (LIVE_ATTEMPTS if live else FROZEN_ATTEMPTS),
            verify_replays=self.verify_replays if self.verify_replays is not None else replays,
            jobs=self.jobs or usable_cpus(),
            dimension=self.dimension,
            controls=self.controls,
            order=self.order or Order(),
            gate=self.gate or Gate(),
            claim=self.claim,
            notes=self._notes(),
            declared_agents=self.agents,
            given=frozenset(
                name for name in ("subject", "attempts", "verify_replays", "jobs") if getattr(self, name) is not None
            ),
            sources=tuple(
                (printable(os.path.relpath(file, self.root)), digest) for file, digest in reading.sources.items()
            ),
        )
        return replace(study, digest=study_digest(study))

    def _default_subject(self) -> Subject:
        if self.agents:
            return "agent"
        return "reference" if self.tasks and all(task.reference for task in self.tasks) else "clean"

    def _check(self, subject: Subject, reading: Reading) -> None:
        if subject == "agent" and not self.agents:
            reading.problem(self.file, None, "subject: agent needs an agent; name agents or give --agent-cmd")
        if subject == "agent":
            for task in self.tasks:
                if task.prompt is None:
                    reading.problem(task.folder, None, "has no prompt.md; write what the agent is to do")
        without = [task.id for task in self.tasks if task.reference is None]
        if subject == "reference" and without:
            names = ", ".join(show(name) for name in without[:_NAMED])
            more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
            reading.problem(self.file, None, f"subject: reference needs a reference.patch in {names}{more}")
        required = self.controls.replay_required if self.controls else None
        if self.attempts is not None and required is not None and self.attempts < required:
            message = f"attempts: {self.attempts} is less than the {required} that replay_required asks for"
            reading.problem(self.file, None, f"{message}; allowed: {required} or more")

    def _notes(self) -> tuple[str, ...]:
        secrets = [name for one in self.environments for name, _ in one.variables if SECRET_NAME.search(name)]
        said = tuple(SECRET_IN_THE_OPEN.format(name=name) for name in dict.fromkeys(secrets))
        if self.dimension is None and len(self.environments) > 1:
            said = (*said, NO_DIMENSION)
        return (*self.notes, *said)


def with_agent_command(draft: Draft, command: str | None) -> Draft:
    """The draft with the agent of `--agent-cmd` in the place of those it names. Raises UsageError when it is empty."""
    if command is None:
        return draft
    if not command.strip():
        raise UsageError("--agent-cmd is empty; give the command that starts the agent")
    return replace(draft, agents=(command_line_agent(command),), subject="agent")


def draft_of(study: Study) -> Draft:
    """The draft a study came from, with only what was written down."""
    return Draft(
        id=study.id,
        root=study.root,
        file=study.file,
        tasks=study.tasks,
        environments=study.environments,
        agents=study.declared_agents,
        subject=study.subject if "subject" in study.given else None,
        attempts=study.attempts if "attempts" in study.given else None,
        verify_replays=study.verify_replays if "verify_replays" in study.given else None,
        jobs=study.jobs if "jobs" in study.given else None,
        dimension=study.dimension,
        controls=study.controls,
        order=study.order,
        gate=study.gate,
        claim=study.claim,
        notes=tuple(note for note in study.notes if note != NO_DIMENSION and not note.startswith("env.")),
    )


def usable_cpus() -> int:
    """Processors this process may run on, at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
