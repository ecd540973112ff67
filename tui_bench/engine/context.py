"""What all attempts of one run share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tui_bench.engine.plan import Planned
from tui_bench.engine.template import Template
from tui_bench.engine.workspace import RunRoot
from tui_bench.environments.base import Environment
from tui_bench.ledger.rows import AnyRow, Mode, Role
from tui_bench.ledger.runs import Layout
from tui_bench.study import model
from tui_bench.study.digest import TaskDigests

Emit = Callable[[AnyRow], AnyRow]


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt to make: a planned one, or one that replaces a lost row of the same number."""

    planned: Planned
    role: Role = "planned"
    replaces: int | None = None
    """`seq` of the row that this attempt replaces."""
    chain: int = 0
    """How many rows of this number came before."""


@dataclass(slots=True)
class RunContext:
    """One run: its study, its places, its environments, and the way to the ledger."""

    study: model.Study
    run_id: str
    layout: Layout
    emit: Emit
    mode: Mode
    roots: Mapping[str, RunRoot]
    """Environment name -> folder of this run below that environment's workspace."""
    templates: Mapping[str, Template]
    digests: Mapping[str, TaskDigests]
    environments: Mapping[str, Environment]
    """Prepared ones only."""
    unavailable: Mapping[str, str]
    """Environment name -> why it cannot be used."""
    clean_within_limit: dict[tuple[str, str], bool] = field(default_factory=dict)
    """(task, env) -> whether the clean verify of the screening ended within its limit."""
    excluded: set[str] = field(default_factory=set)
    """Tasks that the screening set apart in at least one environment."""

    def note_screened(self, pair: tuple[str, str], outcome: str) -> None:
        """Take over the screening outcome of (task, env)."""
        self.clean_within_limit[pair] = outcome != "verify_timeout"
        if outcome != "usable":
            self.excluded.add(pair[0])

    def task(self, name: str) -> model.Task:
        return next(task for task in self.study.tasks if task.id == name)

    def agent(self, name: str) -> model.Agent | None:
        return next((agent for agent in self.study.agents if agent.name == name), None)

    def declared(self, env: str) -> model.Environment:
        return next(one for one in self.study.environments if one.name == env)

    def folder(self, job: Job) -> Path:
        """Where an attempt's logs and patch stay, beside the ledger."""
        one = job.planned
        return self.layout.attempt_folder(one.task, one.env, one.agent or None, one.attempt, job.chain)
