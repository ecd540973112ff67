"""An attempt's tree made again after the run: the source it began with and the change it ended with, or why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_studies import Bench, Ran, write

from tui_bench.commands.trees import StudyTrees
from tui_bench.errors import TuiBenchError
from tui_bench.ledger.runs import Layout

EDIT = "printf 'two\\n' > word.txt; printf 'new\\n' > added.txt"


@pytest.fixture
def ran(bench: Bench) -> Ran:
    bench.task("t1", verify="grep -q two word.txt", repo={"word.txt": "one\n", "gone.txt": "x\n"}, prompt="say two\n")
    bench.agents({"name": "editor", "kind": "scripted", "command": f"{EDIT}; rm gone.txt"})
    bench.environments({"name": "here", "env.GREETING": "hello"})
    bench.save()
    return bench.run("--headless", check=(0, 1, 3))


def make(ran: Ran, place: Path, task: str = "t1") -> Path:
    layout = Layout(ran.ledger)
    row = ran.attempts[0]
    place.mkdir()
    tree = StudyTrees(layout).make(task, "here", layout.files / row["files"]["patch"]["path"], place)
    assert tree.variables == {"GREETING": "hello"}
    return tree.repo


def test_the_tree_is_the_source_with_the_attempts_change(ran: Ran, tmp_path: Path) -> None:
    repo = make(ran, tmp_path / "place")
    found = {path.name: path.read_text() for path in repo.iterdir()}
    assert found == {"word.txt": "two\n", "added.txt": "new\n", "readme.txt": "a task\n"}


def test_without_a_change_it_is_the_source_alone(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    tree = StudyTrees(Layout(ran.ledger)).make("t1", "here", None, tmp_path / "place")
    assert (tree.repo / "word.txt").read_text() == "one\n"


def test_a_source_that_changed_since_is_refused(ran: Ran, bench: Bench, tmp_path: Path) -> None:
    write(bench.folder / "tasks" / "t1" / "repo" / "word.txt", "three\n")
    with pytest.raises(TuiBenchError, match="its files have changed since the run"):
        make(ran, tmp_path / "place")


def test_a_study_that_is_gone_is_said_in_one_line(ran: Ran, bench: Bench, tmp_path: Path) -> None:
    bench.folder.rename(bench.folder.with_name("moved"))
    with pytest.raises(TuiBenchError) as caught:
        make(ran, tmp_path / "place")
    assert "the run's study cannot be loaded" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_run_without_its_plan_is_said(ran: Ran, tmp_path: Path) -> None:
    Layout(ran.ledger).plan.unlink()
    with pytest.raises(TuiBenchError, match=r"plan\.json"):
        make(ran, tmp_path / "place")


def test_a_change_that_does_not_apply_is_said(ran: Ran, tmp_path: Path) -> None:
    layout = Layout(ran.ledger)
    patch = layout.files / ran.attempts[0]["files"]["patch"]["path"]
    patch.write_text(patch.read_text().replace("-one", "-never there"))
    with pytest.raises(TuiBenchError, match="does not apply"):
        make(ran, tmp_path / "place")


def test_the_run_keeps_each_prompt_once_and_fsck_is_content(ran: Ran, bench: Bench) -> None:
    kept = Layout(ran.ledger).prompt("t1")
    assert kept.read_text() == "say two\n"
    checked = bench.cli("fsck", str(ran.ledger), "--json", check=(0,))
    assert json.loads(checked.out)["result"]["findings"] == []
