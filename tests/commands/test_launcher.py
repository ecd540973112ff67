"""What the list of runs starts: studies checked with every problem, and real runners in the background."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tui_bench.commands.launcher import LocalLauncher
from tui_bench.engine import host
from tui_bench.engine.requests import RunnerFile
from tui_bench.errors import RunnerError
from tui_bench.ledger.runs import Layout
from tui_bench.reading import read_ledger
from tui_bench.recent import recent

SAMPLE = Path(__file__).resolve().parents[2] / "sample_config"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RUN_ID", raising=False)
    return tmp_path


def test_a_study_that_loads_says_what_it_would_run() -> None:
    found = LocalLauncher().check(SAMPLE)
    assert found.problems == ()
    assert (found.study, found.tasks, found.subject, found.flip_rate) == ("sample", 12, "agent", "1/10")
    assert found.planned(1) == 12 * len(found.environments) * len(found.agents)


def test_a_study_that_does_not_load_names_every_problem(place: Path) -> None:
    (place / "bench.yaml").write_text("study: x\ntasks: nowhere/\nenvironments: none.tsv\nattempts: 0\n")
    found = LocalLauncher().check(place / "bench.yaml")
    assert len(found.problems) >= 3
    assert any("attempts" in problem for problem in found.problems)
    assert LocalLauncher().check(place / "missing").problems


def test_a_run_starts_in_the_background_and_is_remembered_with_its_study(place: Path) -> None:
    launcher = LocalLauncher()
    study = place / "study"
    for folder in ("tasks/one/repo",):
        (study / folder).mkdir(parents=True)
    (study / "tasks/one/repo/run_tests.sh").write_text("test -f here\n")
    (study / "tasks/one/prompt.md").write_text("make it\n")
    (study / "envs.tsv").write_text("name\tbase_url\tworkspace\treset\ttimeout_s\na\t\t\twipe\t20\nb\t\t\twipe\t20\n")
    ledger = launcher.start(study, 2, None)
    assert ledger.parent == place / "runs"
    assert recent()[0].ledger == ledger and recent()[0].study == study
    link = launcher.link(ledger)
    deadline = time.monotonic() + 60
    while launcher.runner(ledger) != "gone" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert launcher.runner(ledger) == "gone" and not link.alive
    state = read_ledger(ledger)
    assert (state.attempts, state.done, state.status) == (2, state.planned, "ended")


def test_a_runner_that_refuses_says_why(place: Path) -> None:
    (place / "bench.yaml").write_text("study: x\n")
    with pytest.raises(RunnerError) as error:
        LocalLauncher().start(place / "bench.yaml", None, None)
    assert "bench.yaml" in str(error.value)


def test_a_runner_on_another_machine_is_neither_alive_nor_gone(place: Path) -> None:
    ledger = place / "run.jsonl"
    assert LocalLauncher().runner(ledger) == "unknown"
    file = Layout(ledger).runner
    file.parent.mkdir()
    RunnerFile("r", str(ledger), "s", 1, None, "elsewhere", None).write(file)
    assert LocalLauncher().runner(ledger) == "unknown"
    told = json.loads(file.read_text()) | {"host": host.host_name(), "boot_id": "another boot"}
    file.write_text(json.dumps(told))
    assert LocalLauncher().runner(ledger) == "gone"


def test_without_a_terminal_the_tool_alone_prints_its_commands(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tui_bench"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0 and "usage: tui-bench COMMAND" in done.stdout and done.stderr == ""
