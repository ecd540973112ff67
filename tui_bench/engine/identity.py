"""Who and what runs: the digests and names that the run row seals before the first attempt."""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import os
import platform
import sys
from importlib.resources.abc import Traversable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tui_bench import __version__
from tui_bench.engine import host
from tui_bench.engine.plan import Plan
from tui_bench.ledger.rows import AgentFact, Claim, Mode, Rule, RunRow
from tui_bench.study.identity import controls_digest
from tui_bench.study.model import Agent, Study

MODES: dict[str, Mode] = {"clean": "clean", "reference": "reference", "patch": "patch", "agent": "full"}
HARNESS_SUFFIXES = (".py", ".sh", ".tcss")


@functools.cache
def harness_digest() -> str:
    """sha256 over every source file of this package, wherever it was installed (checkout, wheel or zip)."""
    digest = hashlib.sha256()
    for name, entry in sorted(_sources(importlib.resources.files("tui_bench"), "")):
        content = entry.read_bytes()
        digest.update(f"{len(name)}:{name}:{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _sources(entry, f"{name}/")
        elif entry.name.endswith(HARNESS_SUFFIXES):
            found.append((name, entry))
    return found


def sealed(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    """sha256 of a value's canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def endpoint_host(url: str | None) -> str | None:
    """Host and port of an endpoint: user, password, path and query never reach the ledger."""
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def agent_fact(agent: Agent) -> AgentFact:
    """Digest over the command, the files it names, budget and variable names with their values hashed."""
    files = {}
    words = agent.command if isinstance(agent.command, tuple) else ()
    for word in words:
        path = agent.folder / word
        if path.is_file():
            files[word] = hashlib.sha256(path.read_bytes()).hexdigest()
    digest = sealed(
        {
            "kind": agent.kind,
            "command": agent.command,
            "files": files,
            "model": agent.model,
            "endpoint": endpoint_host(agent.base_url),
            "budget": [agent.max_tokens, agent.retries, agent.timeout_s, agent.seed],
            "variables": [[name, hashlib.sha256(value.encode()).hexdigest()] for name, value in agent.variables],
            "pass_env": agent.pass_env,
            "network": agent.network,
        }
    )
    return AgentFact(
        name=agent.name,
        agent_kind=agent.kind,
        digest=digest,
        model=agent.model,
        endpoint=endpoint_host(agent.base_url),
        seed=agent.seed,
        max_tokens=agent.max_tokens,
        retries=agent.retries,
        timeout_s=agent.timeout_s,
    )


def rule_of(study: Study) -> Rule:
    """The rule as it stands before any data."""
    return Rule(
        flip_rate=str(study.gate.flip_rate),
        min_pairs=str(study.gate.min_pairs),
        attempts=study.attempts,
        verify_replays=study.verify_replays,
        drift_stop=study.controls.max_replay_drift if study.controls else None,
    )


def claim_of(study: Study, agents: list[AgentFact]) -> Claim:
    """The six fields that anybody who cites this run's numbers must be able to state."""
    verify = sorted({json.dumps(task.verify, ensure_ascii=False) for task in study.tasks})
    budgets = [
        f"{agent.name}: {agent.max_tokens or 'no token limit'}, {agent.timeout_s or 'no time limit of its own'}"
        for agent in agents
    ]
    models = [f"{a.name}: {a.model} @ {a.endpoint}" for a in agents if a.model]
    return Claim(
        task_set=f"{study.id}, {len(study.tasks)} tasks, digest {study.digest[:16]}",
        budget="; ".join(budgets) or None,
        attempts=str(study.attempts),
        harness=f"tui_bench {__version__} {harness_digest()[:16]}",
        model_endpoint="; ".join(models) or None,
        verify=verify[0] if len(verify) == 1 else f"{len(verify)} commands, one a task",
    )


def run_row(study: Study, plan: Plan, run_id: str, *, resumed: bool) -> RunRow:
    """The row a ledger begins with."""
    agents = [agent_fact(agent) for agent in study.agents] if study.subject == "agent" else []
    rule = rule_of(study)
    return RunRow(
        run_id=run_id,
        study_id=study.id,
        study_sha=study.digest,
        rule=rule,
        rule_sha=sealed(rule),
        harness_sha256=harness_digest(),
        config_sha=sealed(study.sources),
        controls_sha=controls_digest(study.controls) if study.controls else None,
        agents=agents,
        claim=claim_of(study, agents),
        plan_sha=plan.digest,
        planned=len(plan.order),
        subject=study.subject,
        mode=MODES[study.subject],
        attempts=study.attempts,
        jobs=study.jobs,
        order_policy=study.order.policy,
        order_seed=study.order.seed,
        dimension=study.dimension.name if study.dimension else None,
        dimension_facts=list(study.dimension.facts) if study.dimension else [],
        host=host.host_name(),
        boot_id=host.boot_id(),
        pid=os.getpid(),
        root=os.geteuid() == 0,
        python=platform.python_version(),
        platform=f"{sys.platform}/{platform.machine()}",
        version=__version__,
        resumed=resumed,
        notes=list(study.notes),
    )


SEALED_FIELDS = (
    "study_id", "study_sha", "rule_sha", "harness_sha256", "controls_sha", "agents", "plan_sha", "subject", "mode",
)  # fmt: skip
"""Fields of the run row that must be equal for a resume to go on with the same ledger."""


def differing_fields(before: RunRow, now: RunRow) -> list[str]:
    """`field: old -> new` for each sealed field that differs, digests shortened."""
    lines = []
    for name in SEALED_FIELDS:
        old, new = getattr(before, name), getattr(now, name)
        if old != new and name == "agents":
            lines += _agents_changed(before.agents, now.agents)
        elif old != new:
            lines.append(f"{name}: {_short(old)} -> {_short(new)}")
    if before.rule != now.rule:
        lines += [
            f"rule.{name}: {getattr(before.rule, name)} -> {getattr(now.rule, name)}"
            for name in before.rule.__struct_fields__
            if getattr(before.rule, name) != getattr(now.rule, name)
        ]
    return lines


def _agents_changed(before: list[AgentFact], now: list[AgentFact]) -> list[str]:
    old, new = ({agent.name: agent for agent in agents} for agents in (before, now))
    gone = [f"agent {name}: {'removed' if name in old else 'added'}" for name in sorted(old.keys() ^ new.keys())]
    for name in sorted(old.keys() & new.keys()):
        fields = [f for f in AgentFact.__struct_fields__ if getattr(old[name], f) != getattr(new[name], f)]
        shown = ["command, its files or variables" if field == "digest" else field for field in fields]
        gone += [f"agent {name}: {', '.join(shown)}"] if shown else []
    return gone


def _short(value: object) -> str:
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    return text if len(text) <= 24 else f"{text[:16]}..."
