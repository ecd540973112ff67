"""Prepare, agent and collect: from an empty folder to the change that is to be verified.

For `clean` nothing is done to the tree. For `reference`, and for the control agent `oracle`, the task's own patch is
applied; `nop` changes nothing; every other agent is a process in its environment. Whatever changed the tree, the
change is collected in the same way, after every process of the attempt is dead.
"""

from __future__ import annotations

import os
import shutil
import time
from functools import partial
from typing import TYPE_CHECKING

from tui_bench.agents import command as agent_command
from tui_bench.engine import oracle, patch, tree_patch, usage
from tui_bench.engine.findings import shortened
from tui_bench.engine.guard import mounts_below
from tui_bench.engine.limits import agent_limits
from tui_bench.engine.logs import file_ref
from tui_bench.engine.redact import Redactor
from tui_bench.engine.tree_size import off_loop, tree_size
from tui_bench.engine.workspace import AttemptFolders
from tui_bench.environments.base import Command, Environment, Mount, Outcome
from tui_bench.environments.variables import clean_variables
from tui_bench.study.model import Agent

if TYPE_CHECKING:
    from tui_bench.engine.attempt import Attempt

NOT_STARTED_CODES = {126: "cannot be executed", 127: "was not found"}
STARTING_MS = 5_000
"""A shell's 126 or 127 within this time is about starting the agent; later it is the agent's own exit code."""


async def run_agent(attempt: Attempt, folders: AttemptFolders) -> None:
    """Fill `folders.repo` and let the attempt's agent work in it; the change is in `attempt.findings`."""
    context, seen = attempt.context, attempt.findings
    template = context.templates[attempt.task.id]
    with attempt.phase("prepare"):
        seen.oracle_before_ok = oracle.intact(attempt.task, context.digests[attempt.task.id].oracle_sha)
        if context.mode != "clean":
            make = partial(
                folders.create_workspace, template, with_git=context.mode == "full", prompt=attempt.task.prompt
            )
            await off_loop(template.size.large, make)
    if context.mode == "clean" or seen.is_over():
        return
    if context.mode == "reference" or (attempt.agent is not None and attempt.agent.kind == "oracle"):
        _apply_reference(attempt, folders)
    elif attempt.agent is not None and attempt.agent.kind != "nop":
        await _run_process(attempt, attempt.agent, folders)
    if not seen.is_over():
        with attempt.phase("collect"):
            await _collect(attempt, folders)


def _apply_reference(attempt: Attempt, folders: AttemptFolders) -> None:
    if attempt.task.reference is None:
        attempt.findings.patch_not_applied = "the task has no reference.patch"
    else:
        attempt.findings.patch_not_applied = tree_patch.apply(folders.repo, attempt.task.reference)


async def _run_process(attempt: Attempt, agent: Agent, folders: AttemptFolders) -> None:
    context, seen = attempt.context, attempt.findings
    environment = context.environments[attempt.job.planned.env]
    begun_ns = time.time_ns()
    with attempt.phase("agent"):
        command = _command(attempt, agent, folders, environment)
        seen.enforced = environment.enforced(command)
        outcome = await environment.run(attempt.slot, command)
    _note(attempt, outcome)
    seen.written_outside = tuple(f"a mount at {place}" for place in mounts_below(folders.path))
    attempt.redactor = Redactor(os.environ[name] for name in agent.pass_env if name in os.environ)
    if command.log.exists():
        attempt.redactor.clean_file(command.log)
        seen.files["agent_log"] = file_ref(context.layout, command.log, outcome.output)
    found = folders.output / "usage.json"
    source = found if os.path.lexists(found) else folders.repo / "usage.json"
    if os.path.lexists(source):
        seen.usage = usage.read_usage(source, attempt.attempt_id, begun_ns)


def _command(attempt: Attempt, agent: Agent, folders: AttemptFolders, environment: Environment) -> Command:
    study = attempt.context.study
    mounts = (
        Mount("workspace", folders.repo, writable=True),
        Mount("input", folders.input, writable=False),
        Mount("output", folders.output, writable=True),
        Mount("home", folders.home, writable=True),
        Mount("tmp", folders.tmp, writable=True),
    )
    inside = {mount.role: environment.inside(mount) for mount in mounts}
    for name in agent.login_files:
        if name.is_file():
            shutil.copyfile(name, folders.home / name.name)
    declared = attempt.context.declared(attempt.job.planned.env)
    values = agent_command.variables(
        agent,
        prompt_file=f"{inside['input']}/prompt.md",
        workspace=inside["workspace"],
        attempt_id=attempt.attempt_id,
        usage_file=f"{inside['output']}/usage.json",
    )
    passed = {name: os.environ[name] for name in agent.pass_env if name in os.environ}
    variables = clean_variables(
        path=environment.path_variable(),
        home=inside["home"],
        tmp=inside["tmp"],
        extra={**values, **passed, **dict(agent.variables)},
        last=dict(declared.variables),
    )
    return Command(
        argv=agent_command.argv(agent, values),
        cwd="workspace",
        mounts=mounts,
        variables=variables,
        log=attempt.folder / "agent.log",
        limits=agent_limits(agent, study.controls, declared),
        network="denied" if _network(attempt, agent) == "denied" else "open",
        readable=(*agent_command.program_folders(agent), *agent.readable_paths, *attempt.task.readable_paths),
    )


def _network(attempt: Attempt, agent: Agent) -> str | None:
    """What the agent phase asks for: the agent's own word, else controls', else the environment's."""
    study = attempt.context.study
    asked = agent.network or (study.controls.network if study.controls else None)
    return asked or attempt.context.declared(attempt.job.planned.env).network


def _note(attempt: Attempt, outcome: Outcome) -> None:
    """What the agent's end means for the attempt."""
    seen = attempt.findings
    seen.outcomes.append(outcome)
    seen.agent_exit, seen.agent_signal = outcome.exit_code, outcome.signal
    if outcome.why == "timeout":
        seen.capped = True
    elif outcome.why == "not_started":
        seen.agent_not_started = outcome.detail or "the command did not start"
    elif outcome.why in ("lost", "owner_gone"):
        seen.worker_lost = outcome.detail or "the job slot's supervisor died"
    elif outcome.signal is not None and outcome.why == "exited" and not outcome.memory_exceeded:
        seen.agent_killed_by = outcome.signal


async def _collect(attempt: Attempt, folders: AttemptFolders) -> None:
    seen = attempt.findings
    size = tree_size(folders.repo)
    seen.disk_limit = size.excess
    if seen.disk_limit is not None:
        return
    base = attempt.context.templates[attempt.task.id].base
    work = partial(patch.collect, folders.repo, base, attempt.folder, redact=attempt.redactor.clean_bytes)
    change = await off_loop(size.large, work)
    folders.change = change
    seen.patch_sha256, seen.patch_error = change.patch_sha256, change.error
    if change.diff is not None:
        seen.files["patch"] = file_ref(attempt.context.layout, change.diff)
    odd = {"left_out": shortened(change.left_out), "nested": shortened(change.nested), "diff_error": change.diff_error}
    if any(odd.values()):
        attempt.note("the shown diff is not the whole change", odd)
    seen.oracle_intact = oracle.intact(attempt.task, attempt.context.digests[attempt.task.id].oracle_sha)
    seen.agent_not_started = _never_started(attempt)


def _never_started(attempt: Attempt) -> str | None:
    """A shell's 126 or 127 at once, and nothing done: the program behind the command never ran."""
    seen = attempt.findings
    agent_ms = seen.phases_ms.get("agent")
    at_once = agent_ms is not None and agent_ms < STARTING_MS
    if not at_once or seen.agent_exit not in NOT_STARTED_CODES or seen.patch_sha256 != "empty":
        return None
    return f"the command of agent {attempt.job.planned.agent} {NOT_STARTED_CODES[seen.agent_exit]}"
