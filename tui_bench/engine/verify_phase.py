"""Verify and replays: the task's own command on a fresh tree with a pristine oracle.

The tree the agent touched is never verified. Each run of the command gets a tree of its own, built from the task's
source, the allowed part of the change and the oracle, so a replay repeats the test and the box and nothing else.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui_bench.analysis.verdicts import VerifyRun
from tui_bench.engine import oracle, verify_tree
from tui_bench.engine.context import RunContext
from tui_bench.engine.limits import verify_limits
from tui_bench.engine.logs import file_ref
from tui_bench.engine.patch import Change
from tui_bench.engine.tests_seen import tests_seen
from tui_bench.engine.tree_size import off_loop
from tui_bench.engine.workspace import AttemptFolders, VerifyFolders
from tui_bench.environments.base import Command, Environment, Mount, Outcome, Slot
from tui_bench.environments.variables import clean_variables
from tui_bench.study.model import Task

if TYPE_CHECKING:
    from tui_bench.engine.attempt import Attempt

TAIL_CHARACTERS = 400


async def verify_final_tree(attempt: Attempt, folders: AttemptFolders) -> None:
    """Run verify once, and again for each replay, on the attempt's final tree."""
    seen = attempt.findings
    with attempt.phase("verify"):
        place = folders.verify(0)
        taken = await _tree(attempt, place, folders.change)
        seen.dropped, seen.forbidden_edits = taken.dropped, taken.forbidden
        if seen.forbidden_edits or not seen.oracle_intact:
            return
        outcome = await _one_run(attempt, place, "verify.log")
        seen.left_behind = tuple(oracle.left_behind(place, taken.placed, attempt.context.templates[attempt.task.id]))
        seen.stdout_tail = tail_text(outcome.output.stdout_tail)
        seen.stderr_tail = tail_text(outcome.output.stderr_tail)
        seen.files["verify_log"] = file_ref(attempt.context.layout, attempt.folder / "verify.log", outcome.output)
    replays = attempt.context.study.verify_replays
    if replays and not seen.is_over():
        with attempt.phase("replays"):
            for number in range(1, replays + 1):
                again = folders.verify(number)
                await _tree(attempt, again, folders.change)
                await _one_run(attempt, again, f"verify.{number}.log")
                if seen.is_over():
                    break


async def _tree(attempt: Attempt, place: VerifyFolders, change: Change | None) -> verify_tree.Taken:
    """Source, allowed changes and oracle, laid out in the folders of one run of verify."""
    template = attempt.context.templates[attempt.task.id]
    work = partial(verify_tree.build, place, attempt.task, template, change, attempt.context.study.controls)
    return await off_loop(template.size.large, work)


async def _one_run(attempt: Attempt, place: VerifyFolders, log: str) -> Outcome:
    outcome, run = await run_verify(
        attempt.context, attempt.task, attempt.job.planned.env, attempt.slot, place, attempt.folder / log
    )
    seen = attempt.findings
    if (attempt.folder / log).exists():
        attempt.redactor.clean_file(attempt.folder / log)
    seen.outcomes.append(outcome)
    seen.verify_runs.append(run)
    if outcome.why in ("lost", "owner_gone"):
        seen.worker_lost = outcome.detail or "the job slot's supervisor died"
    if not seen.enforced:
        command = verify_command(attempt.context, attempt.task, attempt.job.planned.env, place, attempt.folder / log)
        seen.enforced = attempt.context.environments[attempt.job.planned.env].enforced(command)
    return outcome


async def run_verify(
    context: RunContext, task: Task, env: str, slot: Slot, place: VerifyFolders, log: Path
) -> tuple[Outcome, VerifyRun]:
    """The task's verify command in a tree that stands ready."""
    command = verify_command(context, task, env, place, log)
    outcome = await context.environments[env].run(slot, command)
    return outcome, verify_run(outcome)


def verify_run(outcome: Outcome) -> VerifyRun:
    """What verdicts are made of: nothing but how the process ended."""
    return VerifyRun(
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        timed_out=outcome.why == "timeout",
        memory_exceeded=outcome.memory_exceeded,
        not_started=(outcome.detail or "the command did not start") if outcome.why == "not_started" else None,
        tests_seen=tests_seen(outcome.output.stdout_tail, outcome.output.stderr_tail),
    )


def verify_command(context: RunContext, task: Task, env: str, place: VerifyFolders, log: Path) -> Command:
    """The process of one verify: pristine oracle, own HOME and TMPDIR, nothing of the agent's."""
    environment: Environment = context.environments[env]
    declared = context.declared(env)
    mounts = [Mount("repo", place.repo, writable=True)]
    if place.oracle is not None:
        mounts.append(Mount("oracle", place.oracle, writable=False))
    mounts += [Mount("home", place.home, writable=True), Mount("tmp", place.tmp, writable=True)]
    inside = {mount.role: environment.inside(mount) for mount in mounts}
    folders = {"REPO_DIR": inside["repo"], "ORACLE_DIR": inside.get("oracle", inside["repo"])}
    variables = clean_variables(
        path=environment.path_variable(),
        home=inside["home"],
        tmp=inside["tmp"],
        extra=folders,
        last=dict(declared.variables),
    )
    argv = ("sh", "-c", task.verify) if isinstance(task.verify, str) else _filled(task.verify, folders)
    return Command(
        argv=argv,
        cwd="repo",
        mounts=tuple(mounts),
        variables=variables,
        log=log,
        limits=verify_limits(task, context.study.controls, declared),
        network="open" if task.network == "open" else "denied",
        readable=task.readable_paths,
    )


def _filled(words: tuple[str, ...], folders: dict[str, str]) -> tuple[str, ...]:
    """An argv is read by no shell: the two folders are the only names that are replaced in it."""
    for name, value in folders.items():
        words = tuple(word.replace(f"${{{name}}}", value).replace(f"${name}", value) for word in words)
    return words


def tail_text(raw: bytes) -> str:
    """The end of an output for the row: undecodable bytes are replaced, the file keeps them."""
    return raw.decode("utf-8", "replace")[-TAIL_CHARACTERS:]
