"""The rows after `run`: what each task and each environment was at the time of use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tui_bench.engine.context import RunContext
from tui_bench.environments.base import CAPABILITIES, MEANS_NONE
from tui_bench.ledger.rows import AnyRow, EnvRow, TaskRow


def task_rows(context: RunContext) -> Iterator[TaskRow]:
    for task in context.study.tasks:
        digests = context.digests[task.id]
        yield TaskRow(
            run_id=context.run_id,
            task=task.id,
            task_sha=digests.task_sha,
            oracle_sha=digests.oracle_sha,
            prompt_sha=digests.prompt_sha,
            verify_cmd=task.verify if isinstance(task.verify, str) else list(task.verify),
            verify_timeout_s=task.verify_timeout,
            reference=task.reference is not None,
            cluster=task.cluster,
            language=task.language,
        )


def env_rows(context: RunContext) -> Iterator[EnvRow]:
    for declared in context.study.environments:
        found = context.environments.get(declared.name)
        yield EnvRow(
            run_id=context.run_id,
            env=declared.name,
            env_kind=declared.kind,
            env_sha=found.env_sha if found else None,
            facts=dict(found.facts.hashed) if found else {},
            volatile=dict(found.facts.volatile) if found else {},
            capabilities=dict(found.capabilities) if found else dict.fromkeys(CAPABILITIES, MEANS_NONE),
            variables=dict(declared.variables),
            timeout_s=declared.timeout_s,
            unavailable=context.unavailable.get(declared.name),
            notes=list(found.notes) if found else [],
        )


def changed_since(rows: Iterable[AnyRow], context: RunContext) -> list[str]:
    """Tasks and environments that are not what the ledger's rows say, one text each.

    An environment that could not be used then, or cannot now, is no difference: its attempts are void.
    """
    changed: list[str] = []
    for row in rows:
        if isinstance(row, TaskRow) and row.task is not None and row.task in context.digests:
            now = context.digests[row.task]
            pairs = (("task", row.task_sha, now.task_sha), ("oracle", row.oracle_sha, now.oracle_sha))
            changed += [f"{row.task}: {part} changed" for part, old, new in pairs if old != new]
            changed += [f"{row.task}: prompt changed"] if row.prompt_sha != now.prompt_sha else []
        elif isinstance(row, EnvRow) and row.env in context.environments and row.env_sha is not None:
            changed += _facts_changed(row, context)
    return list(dict.fromkeys(changed))


def _facts_changed(row: EnvRow, context: RunContext) -> list[str]:
    found = context.environments[row.env or ""]
    if row.env_sha == found.env_sha:
        return []
    names = sorted(row.facts.keys() | found.facts.hashed.keys())
    differing = [name for name in names if row.facts.get(name) != found.facts.hashed.get(name)]
    return [f"environment {row.env}: {', '.join(differing) or 'env_sha'} changed"]
