"""The sample study keeps what its README promises: honest tasks, programs that really repair, one flip with a cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample_places import SAMPLE, Place, contents

from tui_bench.study.load import load_study
from tui_bench.study.model import Task

STUDY = load_study(SAMPLE)
ZONES = {environment.name: dict(environment.variables) for environment in STUDY.environments}
AGENTS = {agent.name: agent for agent in STUDY.agents}
FLIPS = "flips"
each_task = pytest.mark.parametrize("task", STUDY.tasks, ids=lambda task: task.id)
each_zone = pytest.mark.parametrize("zone", ZONES.values(), ids=ZONES)


def program(name: str) -> Path:
    command = AGENTS[name].command
    assert isinstance(command, tuple)
    return AGENTS[name].folder / command[1]


def promised() -> dict[str, dict[str, str]]:
    """task -> agent -> `solves`, `flips` or nothing, from the table in the README."""
    text = (SAMPLE / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row] for row in re.findall(r"^\|(.*?)\|.*\|(.*)\|(.*)\|$", text, re.MULTILINE)]
    return {task: {"strong": strong, "weak": weak} for task, strong, weak in rows if re.match(r"t\d\d_", task)}


def solves(task: Task, agent: Path, zone: dict[str, str], folder: Path) -> bool:
    """Whether an agent's work passes; it may change sources only, and says what it did."""
    place = Place.of(task, folder)
    before = contents(place.repo)
    said = place.agent(agent, zone).stdout
    after = contents(place.repo)
    changed = {path for path in before if before[path] != after.get(path)}
    assert set(after) == set(before), "no usage file and nothing else is added or removed"
    assert "scripted agent" in said
    assert ("changed:" in said) == bool(changed)
    assert all(f"looked at {path}" in said and not path.startswith("tests/") for path in changed)
    code = place.verify(zone).returncode
    assert code in (0, 1)
    return code == 0


def test_study_is_twelve_tasks_in_two_boxes_that_differ_in_one_variable() -> None:
    assert len(STUDY.tasks) == 12
    assert STUDY.attempts * len(STUDY.tasks) * len(STUDY.environments) * len(STUDY.agents) == 96
    first, second = STUDY.environments
    assert [name for name, _ in first.variables] == [name for name, _ in second.variables]
    assert first.variables != second.variables
    fields = ("kind", "base_url", "workspace", "reset", "timeout_s", "network", "cpus", "memory_mb")
    assert [getattr(first, name) for name in fields] == [getattr(second, name) for name in fields]
    assert {agent.kind for agent in STUDY.agents} == {"scripted"}
    assert {agent.model for agent in STUDY.agents} == {None}


def test_readme_promises_one_flip() -> None:
    table = promised()
    assert list(table) == [task.id for task in STUDY.tasks]
    strong = [row["strong"] for row in table.values()]
    assert (strong.count("solves"), strong.count(FLIPS)) == (11, 1)
    assert [row["weak"] for row in table.values()].count("solves") == 6
    assert FLIPS not in {row["weak"] for row in table.values()}


@each_task
def test_untouched_checkout_fails_and_verify_leaves_nothing(task: Task, tmp_path: Path) -> None:
    place = Place.of(task, tmp_path)
    assert task.oracle is not None
    before, oracle = place.files(), contents(task.oracle)
    done = place.verify(ZONES["nepal"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert place.files() == before
    assert contents(task.oracle) == oracle
    assert not contents(place.root / "home")


@each_zone
@each_task
def test_reference_patch_passes_and_verify_leaves_nothing(task: Task, zone: dict[str, str], tmp_path: Path) -> None:
    place = Place.of(task, tmp_path)
    place.apply_reference()
    before = place.files()
    done = place.verify(zone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.files() == before
    if task.expect_tests is not None:
        assert f"Ran {task.expect_tests} tests in " in done.stderr


@each_task
def test_visible_tests_do_not_know_of_the_bug(task: Task, tmp_path: Path) -> None:
    """Before and after the repair: an agent that only runs them learns nothing."""
    place = Place.of(task, tmp_path)
    script = place.repo / "tests" / "smoke.sh"
    argv = ["sh", str(script)] if script.exists() else ["python3", "-B", "-m", "unittest", "discover", "-s", "tests"]
    before = place.run(argv, {})
    assert before.returncode == 0, before.stdout + before.stderr
    place.apply_reference()
    after = place.run(argv, {})
    assert after.returncode == 0, after.stdout + after.stderr


@pytest.mark.parametrize("agent", AGENTS)
@each_task
def test_agents_solve_what_the_readme_says(task: Task, agent: str, tmp_path: Path) -> None:
    found = {name: solves(task, program(agent), zone, tmp_path / name) for name, zone in ZONES.items()}
    promise = promised()[task.id][agent]
    if promise == FLIPS:
        assert found == {"utc": True, "nepal": False}
    else:
        assert set(found.values()) == {promise == "solves"}


def test_the_flip_goes_away_with_the_bug_of_the_agent(tmp_path: Path) -> None:
    text = program("strong").read_text(encoding="utf-8")
    bug = "int(time.mktime({moment}.utctimetuple()))"
    assert text.count(bug) == 1
    repaired = tmp_path / "strong.py"
    repaired.write_text(text.replace(bug, "calendar.timegm({moment}.utctimetuple())"), encoding="utf-8")
    (task,) = [task for task in STUDY.tasks if promised()[task.id]["strong"] == FLIPS]
    for name, zone in ZONES.items():
        assert solves(task, repaired, zone, tmp_path / name)


def test_agents_without_a_prompt_say_so(tmp_path: Path) -> None:
    place = Place.of(STUDY.tasks[0], tmp_path)
    for name in AGENTS:
        done = place.run(["python3", str(program(name))], {})
        assert done.returncode == 1
        assert done.stderr == f"{name}.py: PROMPT_FILE is not set\n"


def test_agents_hold_neither_task_ids_nor_reference_patches() -> None:
    sources = {name: program(name).read_text(encoding="utf-8") for name in AGENTS}
    for task in STUDY.tasks:
        assert task.reference is not None
        patch = task.reference.read_text(encoding="utf-8").splitlines()
        added = [line[1:].strip() for line in patch if line.startswith("+") and not line.startswith("+++")]
        bits = task.id.split("_", 1)
        for source in sources.values():
            assert task.id not in source
            assert f"{bits[0]}_" not in source
            assert bits[1] not in source
            assert not [line for line in added if len(line) > 40 and line in source]


def test_nothing_but_the_environments_names_the_variable_that_differs() -> None:
    (variable,) = {name for zone in ZONES.values() for name in zone}
    files = [program(name) for name in AGENTS]
    for task in STUDY.tasks:
        assert task.oracle is not None
        files += [task.folder / "task.yaml", task.folder / "prompt.md"]
        files += [path for folder in (task.oracle, task.repo) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if re.search(rf"\b{variable}\b", path.read_text(encoding="utf-8"))] == []


def test_tasks_do_not_hold_their_own_solution() -> None:
    """The prompt and the repo say what is wanted, never the lines of the reference patch."""
    for task in STUDY.tasks:
        assert task.reference is not None and task.prompt is not None
        patch = task.reference.read_text(encoding="utf-8").splitlines()
        added = {line[1:].strip() for line in patch if line.startswith("+") and not line.startswith("+++")}
        text = task.prompt.read_text(encoding="utf-8")
        assert not [line for line in added if len(line) > 20 and line in text], task.id
