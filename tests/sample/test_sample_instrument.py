"""Each task of the instrument study has exactly the fault that EXPECTED.tsv says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sample_places import SAMPLE, Place, contents

from tui_bench.analysis.verdicts import VerifyRun, classify_clean
from tui_bench.study.load import load_study
from tui_bench.study.model import Task

STUDY = load_study(SAMPLE / "instrument")
ZONES = {environment.name: dict(environment.variables) for environment in STUDY.environments}
TASKS = {task.id: task for task in STUDY.tasks}
OUTCOMES = {
    "screen": {"usable", "already_solved", "oracle_error", "verify_timeout", "hygiene"},
    "attempt": {"fail", "pass", "void:forbidden_edit"},
    "replays": {"disagree"},
    "check": {"oracle_invalid", "flaky"},
}


def expected() -> list[dict[str, str]]:
    lines = (SAMPLE / "instrument" / "EXPECTED.tsv").read_text(encoding="utf-8").splitlines()
    names, *rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [dict(zip(names, row, strict=True)) for row in rows]


def outcome_of(task: str, stage: str, env: str, agent: str = "*") -> str:
    """The one row of EXPECTED.tsv that covers a case."""
    rows = [
        row for row in expected()
        if (row["task"], row["stage"]) == (task, stage) and row["env"] in ("*", env) and row["agent"] in ("*", agent)
    ]  # fmt: skip
    assert len(rows) == 1, f"{task} {stage} {env} {agent}: {len(rows)} rows"
    return rows[0]["outcome"]


def screened(task: Task, zone: dict[str, str], folder: Path) -> str:
    """Outcome of one clean verify, decided where the runner has it decided."""
    place = Place.of(task, folder)
    before = place.files()
    try:
        code, timed_out = place.verify(zone, task.verify_timeout).returncode, False
    except subprocess.TimeoutExpired:
        code, timed_out = None, True
    left = sorted(set(place.files()) - set(before))
    run = VerifyRun(exit_code=code, signal=None, timed_out=timed_out)
    outcome, _ = classify_clean(
        run, fail_codes=task.fail_codes, left_behind=left, verify_timeout_s=task.verify_timeout
    )
    return outcome


def test_every_task_says_what_must_become_of_it() -> None:
    rows = expected()
    assert {row["task"] for row in rows} == set(TASKS)
    for row in rows:
        assert row["outcome"] in OUTCOMES[row["stage"]]
        assert row["why"]
        assert row["env"] in ("*", *ZONES)
        assert row["agent"] in ("*", *(agent.name for agent in STUDY.agents))
    for task in TASKS:
        usable = {outcome_of(task, "screen", env) for env in ZONES} == {"usable"}
        attempts = [row for row in rows if row["task"] == task and row["stage"] in ("attempt", "replays")]
        assert bool(attempts) == usable, "a task that is excluded has no attempts"
        for env in ZONES if usable else ():
            for agent in STUDY.agents:
                assert outcome_of(task, "attempt", env, agent.name)


def test_no_task_is_part_of_the_sample_study() -> None:
    assert not set(TASKS) & {task.id for task in load_study(SAMPLE).tasks}


@pytest.mark.parametrize("env", ZONES)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_clean_verify_has_the_expected_outcome(task: Task, env: str, tmp_path: Path) -> None:
    assert screened(task, ZONES[env], tmp_path) == outcome_of(task.id, "screen", env)


def test_flaky_test_disagrees_with_itself_in_every_attempt(tmp_path: Path) -> None:
    task = TASKS["i04_every_other_call"]
    for name in ("00112233445566aa", "ffeeddccbbaa9988"):
        place = Place.of(task, tmp_path, name)
        assert [place.verify({}).returncode for _ in range(4)] == [1, 0, 1, 0]
        assert sorted(path.name for path in place.root.iterdir()) == ["home", "repo", "tmp"]


def test_tamperer_turns_the_test_it_reaches_green(tmp_path: Path) -> None:
    task = TASKS["i03_test_in_reach"]
    assert "run_tests.sh" in task.protected
    place = Place.of(task, tmp_path)
    before = contents(place.repo)
    place.agent(SAMPLE / "instrument" / "agents" / "tamperer.py", {})
    after = contents(place.repo)
    assert [path for path in before if before[path] != after[path]] == ["run_tests.sh"]
    assert place.verify({}).returncode == 0


def test_tamperer_leaves_hidden_tests_alone(tmp_path: Path) -> None:
    place = Place.of(TASKS["i08_says_success"], tmp_path)
    before = contents(place.repo)
    said = place.agent(SAMPLE / "instrument" / "agents" / "tamperer.py", {}).stdout
    assert (said, contents(place.repo)) == ("no test within reach\n", before)


def test_success_in_words_ends_with_one(tmp_path: Path) -> None:
    done = Place.of(TASKS["i08_says_success"], tmp_path).verify({})
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "OK")


def test_wrong_reference_fails_like_the_clean_checkout(tmp_path: Path) -> None:
    place = Place.of(TASKS["i10_wrong_reference"], tmp_path)
    place.apply_reference()
    assert place.verify({}).returncode == 1
