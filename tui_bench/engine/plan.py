"""Which attempts are to be made, and in which order.

A plan is a pure function of the study: the same study gives the same order, and `order_index` in each row says where
an attempt stood in it. `plan.json` beside the ledger keeps the plan and what selected it, so that `resume` can load
the same study again.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tui_bench.errors import LedgerError
from tui_bench.study.model import Order, Study

PLAN_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Planned:
    """One planned attempt. `agent` is empty where the study has none."""

    task: str
    env: str
    agent: str
    attempt: int
    order_index: int | None
    """None for an attempt that stands in no order."""

    @property
    def cell(self) -> tuple[str, str, str]:
        return (self.task, self.env, self.agent)


@dataclass(frozen=True, slots=True)
class Selection:
    """How the study was chosen on the command line; enough to load it again."""

    study: str
    agent_cmd: str | None = None
    tasks: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    attempts: int | None = None
    subject: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Attempts in order, with the selection they came from."""

    selection: Selection
    order: tuple[Planned, ...]

    def text(self) -> str:
        body = {
            "schema": PLAN_SCHEMA,
            "selection": asdict(self.selection),
            "order": [[one.task, one.env, one.agent, one.attempt] for one in self.order],
        }
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @property
    def digest(self) -> str:
        """sha256 of `plan.json`'s bytes, as the run row carries it."""
        return hashlib.sha256(self.text().encode("utf-8", "surrogatepass")).hexdigest()


def make_plan(study: Study, selection: Selection) -> Plan:
    """Lay out tasks x environments x agents x attempts in the study's order."""
    agents = [agent.name for agent in study.agents] if study.subject == "agent" else [""]
    tasks = [task.id for task in study.tasks]
    environments = [environment.name for environment in study.environments]
    cells = _ordered(tasks, environments, agents, study.attempts, study.order)
    order = tuple(Planned(*cell, order_index=index) for index, cell in enumerate(cells))
    return Plan(selection=selection, order=order)


def _ordered(
    tasks: Sequence[str], environments: Sequence[str], agents: Sequence[str], attempts: int, order: Order
) -> Iterator[tuple[str, str, str, int]]:
    """Interleaved: in each round every task once, its environments and agents side by side, all shuffled."""
    dice = random.Random(order.seed)
    sides = [(env, agent) for env in environments for agent in agents]
    for attempt in range(attempts):
        if order.policy == "sequential":
            yield from ((task, env, agent, attempt) for env, agent in sides for task in tasks)
            continue
        for task in dice.sample(list(tasks), len(tasks)):
            for env, agent in dice.sample(sides, len(sides)):
                yield (task, env, agent, attempt)


def write_plan(path: Path, plan: Plan) -> None:
    path.write_bytes(plan.text().encode("utf-8", "surrogatepass"))


def read_selection(path: Path, expected_sha: str) -> Selection:
    """The selection that `plan.json` recorded. Raises LedgerError when the file is gone or was changed."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read ({error.strerror}); resume needs the run's own plan") from error
    if hashlib.sha256(raw).hexdigest() != expected_sha:
        raise LedgerError(f"{path}: differs from the digest in the ledger's run row; start a new run")
    chosen = json.loads(raw)["selection"]
    for name in ("tasks", "environments", "agents"):
        chosen[name] = tuple(chosen[name])
    return Selection(**chosen)
