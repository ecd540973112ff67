"""bench.yaml: the keys of a study, and the files it names."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from tui_bench.study.agents import agents_of, read_agents
from tui_bench.study.controls import controls_of, read_controls
from tui_bench.study.dimensions import dimension_of
from tui_bench.study.draft import SUBJECTS, Draft
from tui_bench.study.environments import inline_environments, read_environments
from tui_bench.study.model import Agent, Controls, Environment, Gate, Order, Task
from tui_bench.study.names import id_fault
from tui_bench.study.ranges import ATTEMPTS, JOBS, REPLAYS, SEED
from tui_bench.study.reading import Reading, show
from tui_bench.study.schema import Fields
from tui_bench.study.strict_yaml import Entries, Node, Scalar, read
from tui_bench.study.tasks import read_tasks

FILE_NAME = "bench.yaml"
KEYS = (
    "study", "tasks", "environments", "dimension", "agents", "controls", "subject", "attempts", "verify_replays",
    "jobs", "order", "gate", "claim",
)  # fmt: skip
_POLICIES: tuple[Literal["interleaved", "sequential"], ...] = ("interleaved", "sequential")
Part = TypeVar("Part")


def read_bench(file: Path, reading: Reading) -> Draft | None:
    """The draft of a bench.yaml, None where there is nothing to make one of; faults are noted."""
    node = read(file, reading)
    if node is None:
        return None
    if not isinstance(node, Entries):
        reading.problem(file, node.line, f"a study is a mapping; its keys: {', '.join(KEYS)}")
        return None
    return _Bench(Fields(node, file, reading, KEYS)).draft()


class _Bench:
    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._root = fields.file.parent
        self._reading = fields.reading

    def draft(self) -> Draft:
        fields = self._fields
        fields.require("study", "tasks", "environments")
        controls = self._controls()
        dimension = fields.node.nodes.get("dimension")
        return Draft(
            id=self._id(),
            root=self._root,
            file=fields.file,
            tasks=self._tasks(controls),
            environments=self._environments(),
            agents=self._agents(),
            subject=fields.choice("subject", SUBJECTS),
            attempts=fields.integer("attempts", ATTEMPTS),
            verify_replays=fields.integer("verify_replays", REPLAYS),
            jobs=fields.integer("jobs", JOBS),
            dimension=dimension_of(dimension, fields.file, self._reading) if dimension else None,
            controls=controls,
            order=self._order(),
            gate=self._gate(),
            claim=self._claim(),
        )

    def _id(self) -> str:
        name = self._fields.text("study") or ""
        fault = id_fault(name) if name else None
        if fault:
            self._fields.refuse("study", f"{show(name)} {fault}")
        return name

    def _part(
        self,
        key: str,
        from_file: Callable[[Path, Reading], Part],
        inline: Callable[[Node, Path, Reading], Part],
    ) -> Part | None:
        """The value of a key that is a path where it is a text, and the thing itself otherwise."""
        node = self._fields.node.nodes.get(key)
        if node is None:
            return None
        if not isinstance(node, Scalar):
            return inline(node, self._fields.file, self._reading)
        path = self._fields.path(key, self._root)
        if path is None:
            return None
        if not os.path.exists(path):
            self._fields.refuse(key, f"{show(node.text)} does not exist; paths are relative to {FILE_NAME}")
            return None
        return from_file(path, self._reading)

    def _controls(self) -> Controls | None:
        return self._part("controls", read_controls, controls_of)

    def _environments(self) -> tuple[Environment, ...]:
        return self._part("environments", read_environments, inline_environments) or ()

    def _agents(self) -> tuple[Agent, ...]:
        return self._part("agents", read_agents, agents_of) or ()

    def _tasks(self, controls: Controls | None) -> tuple[Task, ...]:
        path = self._fields.path("tasks", self._root)
        if path is None:
            return ()
        if path.suffix in (".jsonl", ".json"):
            self._fields.refuse("tasks", f"{path.suffix} is not available in this version; give a folder of tasks")
            return ()
        if not os.path.isdir(path):
            self._fields.refuse("tasks", f"{show(path.name)} is no folder; paths are relative to {FILE_NAME}")
            return ()
        return read_tasks(path, self._reading, controls)

    def _order(self) -> Order:
        fields = self._fields.mapping("order", ("policy", "seed"))
        if fields is None:
            return Order()
        policy, seed = fields.choice("policy", _POLICIES), fields.integer("seed", SEED)
        order = Order() if policy is None else Order(policy)
        return order if seed is None else replace(order, seed=seed)

    def _gate(self) -> Gate:
        fields = self._fields.mapping("gate", ("flip_rate", "min_pairs"))
        if fields is None:
            return Gate()
        gate, flip_rate, min_pairs = Gate(), fields.rate("flip_rate"), fields.rate("min_pairs")
        if flip_rate is not None:
            gate = replace(gate, flip_rate=flip_rate)
        return gate if min_pairs is None else replace(gate, min_pairs=min_pairs)

    def _claim(self) -> Path | None:
        path = self._fields.path("claim", self._root)
        if path is not None and not os.path.isfile(path):
            self._fields.refuse("claim", f"{show(path.name)} is no file; paths are relative to {FILE_NAME}")
        return path
