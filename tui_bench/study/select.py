"""Part of a study: the tasks, environments and agents that a command line names, with its overrides."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from tui_bench.errors import UsageError
from tui_bench.study.draft import SUBJECTS, draft_of
from tui_bench.study.model import Study, Subject, Task
from tui_bench.study.names import unknown
from tui_bench.study.ranges import ATTEMPTS, JOBS, Range
from tui_bench.study.reading import Reading, show


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


def select(
    study: Study,
    *,
    tasks: Sequence[str] = (),
    environments: Sequence[str] = (),
    agents: Sequence[str] = (),
    attempts: int | None = None,
    jobs: int | None = None,
    subject: str | None = None,
) -> Study:
    """The study cut down to what is named; nothing named means all. Defaults follow a changed subject.

    `tasks` are globs over task ids. Raises UsageError for what does not exist or is out of range, and StudyError where
    the study cannot do what is asked, such as a subject its tasks have nothing for.
    """
    draft = draft_of(study)
    draft = replace(
        draft,
        tasks=_matching(study.tasks, tasks),
        environments=_named("environment", study.environments, environments),
        agents=_named("agent", study.declared_agents, agents),
        subject=_subject(subject) or draft.subject,
        attempts=_inside("--attempts", attempts, ATTEMPTS) or draft.attempts,
        jobs=_inside("--jobs", jobs, JOBS) or draft.jobs,
    )
    reading = Reading()
    reading.sources.update({study.root / path: digest for path, digest in study.sources})
    chosen = draft.study(reading)
    if agents and chosen.subject != "agent":
        raise UsageError(f"--agent has no effect: the subject is {chosen.subject}; add --subject agent")
    return chosen


def _matching(tasks: tuple[Task, ...], globs: Sequence[str]) -> tuple[Task, ...]:
    ids = [task.id for task in tasks]
    for glob in globs:
        if not fnmatch.filter(ids, glob):
            raise UsageError(unknown("task", glob, ids, list_all=True))
    return tuple(task for task in tasks if not globs or any(fnmatch.fnmatchcase(task.id, glob) for glob in globs))


def _named(what: str, known: tuple[Named, ...], names: Sequence[str]) -> tuple[Named, ...]:
    for name in names:
        if name not in [entry.name for entry in known]:
            raise UsageError(unknown(what, name, [entry.name for entry in known], list_all=True))
    return tuple(entry for entry in known if not names or entry.name in names)


def _subject(text: str | None) -> Subject | None:
    if text is None:
        return None
    for subject in SUBJECTS:
        if subject == text:
            return subject
    raise UsageError(f"--subject: {show(text)} is not known; known: {', '.join(SUBJECTS)}")


def _inside(option: str, value: int | None, allowed: Range) -> int | None:
    if value is not None and not allowed.low <= value <= allowed.high:
        raise UsageError(f"{option}: {value} is out of range; allowed: {allowed}")
    return value
