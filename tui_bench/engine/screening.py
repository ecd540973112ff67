"""One clean verify of every (task, environment) before the first attempt.

It finds the tasks whose verdict would mean nothing: already solved, a test that cannot run or hangs, a test that
leaves files behind. They are excluded before any agent has worked. A result is kept in the user's cache folder under
the digests of everything it depends on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tui_bench.analysis.verdicts import VerifyRun, classify_clean
from tui_bench.engine import oracle, verify_tree
from tui_bench.engine.context import RunContext
from tui_bench.engine.identity import harness_digest, sealed
from tui_bench.engine.limits import verify_limits
from tui_bench.engine.verify_phase import run_verify
from tui_bench.engine.workspace import AttemptFolders
from tui_bench.environments.base import Slot
from tui_bench.environments.cache import cache_folder
from tui_bench.ledger.rows import EventRow
from tui_bench.study.model import Task


class ScreeningCut(Exception):
    """The run was stopped, or a job slot died, in the middle of a clean verify: nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Screened:
    """Result of one clean verify. `at` is UTC, ISO 8601."""

    outcome: str
    reason: str | None
    exit_code: int | None
    wall_ms: int
    at: str


async def screen(
    context: RunContext, slots: Sequence[Slot], *, done: Mapping[tuple[str, str], str], again: bool = False
) -> None:
    """Screen all pairs but those `done` (with their outcome), as many at once as there are slots.

    Emits one `screened` event each and notes the result in the context.

    `again` ignores the cache. An environment that is unavailable is skipped: nothing can be said there. Raises
    ScreeningCut (in a group) when a verify was cut off.
    """
    waiting = [
        (task, environment.name)
        for task in context.study.tasks
        for environment in context.study.environments
        if environment.name in context.environments and (task.id, environment.name) not in done
    ]
    for pair, outcome in done.items():
        context.note_screened(pair, outcome)

    async def work(slot: Slot) -> None:
        while waiting:
            task, env = waiting.pop(0)
            await _screen_one(context, task, env, slot, again=again)

    async with asyncio.TaskGroup() as group:
        for slot in slots:
            group.create_task(work(slot))


async def _screen_one(context: RunContext, task: Task, env: str, slot: Slot, *, again: bool) -> None:
    cached = cache_folder() / "screen" / f"{_key(context, task, env)}.json"
    found = None if again else _read(cached)
    result = found or await _verify_clean(context, task, env, slot)
    if found is None:
        _write(cached, result)
    context.note_screened((task.id, env), result.outcome)
    context.emit(
        EventRow(
            run_id=context.run_id,
            event="screened",
            task=task.id,
            env=env,
            outcome=result.outcome,
            reason=result.reason,
            detail={
                "exit_code": result.exit_code,
                "wall_ms": result.wall_ms,
                "at": result.at,
                "cached": found is not None,
            },
        )
    )


def _key(context: RunContext, task: Task, env: str) -> str:
    digests = context.digests[task.id]
    limits = verify_limits(task, context.study.controls, context.declared(env))
    box = context.environments[env].env_sha
    return sealed([digests.task_sha, digests.oracle_sha, box, limits.wall_s, harness_digest()])


async def _verify_clean(context: RunContext, task: Task, env: str, slot: Slot) -> Screened:
    folders = AttemptFolders(context.roots[env], secrets.token_hex(8))
    log = context.layout.screen_folder(task.id, env) / "verify.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        log.unlink()
    try:
        place = folders.verify(0)
        taken = verify_tree.build(place, task, context.templates[task.id], None, context.study.controls)
        outcome, run = await run_verify(context, task, env, slot, place, log)
        left = tuple(oracle.left_behind(place, taken.placed, context.templates[task.id]))
    finally:
        folders.dispose()
    if outcome.why not in ("exited", "timeout", "not_started"):
        raise ScreeningCut(f"{task.id} in {env}: {outcome.why}")
    limits = verify_limits(task, context.study.controls, context.declared(env))
    name, reason = _classified(task, run, left, limits.wall_s)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Screened(name, reason, outcome.exit_code, outcome.wall_ms, now)


def _classified(task: Task, run: VerifyRun, left: tuple[str, ...], limit_s: float) -> tuple[str, str | None]:
    return classify_clean(run, fail_codes=task.fail_codes, left_behind=left, verify_timeout_s=limit_s)


def _read(path: Path) -> Screened | None:
    try:
        return Screened(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, result: Screened) -> None:
    """Best effort: a cache that cannot be written costs a verify next time and nothing else."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(asdict(result)), "utf-8")
        fresh.replace(path)
