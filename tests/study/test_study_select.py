"""Cutting a study down from the command line."""

from __future__ import annotations

import pytest

from tui_bench.errors import StudyError, UsageError
from tui_bench.study.model import Study
from tui_bench.study.select import select

BENCH = """\
study: s
tasks: tasks
environments: envs.tsv
agents: [{name: strong, kind: nop}, {name: weak, kind: nop}]
dimension: timezone
"""


@pytest.fixture
def study(desk) -> Study:
    desk.study(bench_dot_yaml=BENCH, envs_dot_tsv="name\nlocal-container\nremote-free\n")
    for name in ("t02_a", "t03_a", "u01"):
        desk.task(name)
    return desk.load()


def test_nothing_named_is_the_study_itself(study: Study) -> None:
    assert select(study) == study


def test_globs_and_names(study: Study) -> None:
    part = select(study, tasks=["t0*_a", "u01"], environments=["remote-free"], agents=["weak"], jobs=1, attempts=5)
    assert [task.id for task in part.tasks] == ["t02_a", "t03_a", "u01"]
    assert [environment.name for environment in part.environments] == ["remote-free"]
    assert [agent.name for agent in part.agents] == ["weak"]
    assert (part.jobs, part.attempts) == (1, 5)
    assert part.digest != study.digest
    assert part.sources == study.sources


def test_another_subject_brings_its_own_defaults(study: Study) -> None:
    frozen = select(study, subject="clean")
    assert (frozen.agents, frozen.attempts, frozen.verify_replays) == ((), 2, 1)
    assert select(frozen, subject="agent") != frozen
    assert select(frozen, subject="agent").agents == study.agents
    assert select(study, subject="clean", attempts=7).attempts == 7


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (
            {"environments": ["remote-fre"]},
            "unknown environment 'remote-fre'; nearest known: 'remote-free'; known: local-container, remote-free",
        ),
        ({"agents": ["stong"]}, "unknown agent 'stong'; nearest known: 'strong'; known: strong, weak"),
        ({"tasks": ["x*"]}, "unknown task 'x*'; known: t01, t02_a, t03_a, u01"),
        ({"attempts": 0}, "--attempts: 0 is out of range; allowed: 1 to 1000"),
        ({"jobs": -1}, "--jobs: -1 is out of range; allowed: 1 to 1000"),
        ({"subject": "live"}, "--subject: 'live' is not known; known: clean, reference, patch, agent"),
        ({"subject": "clean", "agents": ["weak"]}, "--agent has no effect: the subject is clean"),
    ],
)
def test_x0_16_what_does_not_exist_is_a_usage_error(study: Study, named: dict, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        select(study, **named)
    assert str(caught.value).startswith(words)
    assert caught.value.exit_code == 2


def test_a_subject_the_tasks_have_nothing_for(study: Study) -> None:
    with pytest.raises(StudyError, match=r"needs a reference.patch in 't01', 't02_a', 't03_a', 'u01'"):
        select(study, subject="reference")
