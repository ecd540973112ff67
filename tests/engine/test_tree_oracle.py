"""Whether the hidden test is untouched, and whether a test tidies up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from treebench import Attempted, make_task, open_run, plant

from tui_bench.engine.oracle import intact, left_behind
from tui_bench.engine.workspace import RunRoot
from tui_bench.study.digest import task_digests

ORACLE = {"run.sh": "exit 0\n", "data/x.txt": "1\n", "tool": "#!/bin/sh\n"}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunRoot]:
    with open_run(tmp_path) as opened:
        yield opened


BROKEN = {
    "edit": lambda o: (o / "run.sh").write_text("exit 1\n"),
    "append": lambda o: (o / "run.sh").open("a").write("#"),
    "add": lambda o: (o / "new").touch(),
    "delete": lambda o: (o / "run.sh").unlink(),
    "rename": lambda o: (o / "run.sh").rename(o / "ran.sh"),
    "chmod": lambda o: (o / "tool").chmod(0o755),
    "empty_folder": lambda o: (o / "empty").mkdir(),
    "boundary": lambda o: ((o / "data" / "x.txt").write_text("1\nZ"), (o / "tool").write_text("")),
    "link": lambda o: ((o / "run.sh").unlink(), (o / "run.sh").symlink_to("tool")),
    "gone": lambda o: o.rename(o.parent / "elsewhere"),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_d15_every_change_of_the_oracle_is_seen(tmp_path: Path, damage: object) -> None:
    task = make_task(tmp_path / "t", {"a": "1"}, ORACLE)
    expected = task_digests(task).oracle_sha
    assert intact(task, expected)
    assert callable(damage)
    damage(task.folder / "oracle")
    assert not intact(task, expected)


def test_b35_the_checksum_file_and_by_products_do_not_break_the_oracle(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", {"a": "1"}, ORACLE)
    expected = task_digests(task).oracle_sha
    by_products = {"sha256.txt": expected or "", "__pycache__/run.pyc": "x", "data/__pycache__/y.pyc": "x"}
    plant(task.folder / "oracle", by_products)
    os.utime(task.folder / "oracle" / "run.sh", ns=(0, 0))
    assert intact(task, expected)


def test_b34_an_edit_that_was_put_back_leaves_the_oracle_intact(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", {"a": "1"}, ORACLE)
    expected = task_digests(task).oracle_sha
    script = task.folder / "oracle" / "run.sh"
    script.write_text("exit 7\n")
    script.write_text("exit 0\n")
    assert intact(task, expected)


def test_a_task_without_a_hidden_folder_has_nothing_to_break(tmp_path: Path) -> None:
    assert intact(make_task(tmp_path / "t", {"run_tests.sh": "exit 0"}), None)


LEFT = [
    ({}, {}, ()),
    ({"out.txt": "x"}, {}, ("out.txt",)),
    ({"build/a/b": "x", "build/c": "x"}, {}, ("build",)),
    ({"app/__pycache__/m.pyc": "x", "m.pyc": "x", ".pytest_cache/v/x": "x"}, {}, ()),
    ({"debug.log": "x", "out/a.o": "x", "deep/er/x.log": "x", ":(top)a.log": "x"}, {}, ()),
    ({"mixed/a.log": "x", "mixed/keep.txt": "x"}, {}, ("mixed",)),
    ({"app/only_here.tmp": "x"}, {}, ()),
    ({"only_here.tmp": "x"}, {}, ("only_here.tmp",)),
    ({}, {"tmpabc/x": "x", "pytest-of-me/pytest-0/x": "x"}, ("$TMPDIR/tmpabc",)),
    ({"ra\udcffw": "x"}, {}, ("ra\\xffw",)),
    ({"app/main.py": "verify edits a file it found"}, {}, ()),
]


@pytest.mark.parametrize(("repo", "tmp", "expected"), LEFT)
def test_what_verify_leaves_is_named_by_products_aside(
    tmp_path: Path, run: RunRoot, repo: dict[str, str], tmp: dict[str, str], expected: tuple[str, ...]
) -> None:
    source = {"app/main.py": "1", ".gitignore": "*.log\n/out/\n", "app/.gitignore": "*.tmp\n"}
    attempt = Attempted(run, make_task(tmp_path / "t", source, ORACLE))
    attempt.sh("echo own > agents.txt")
    place, taken = attempt.verify()
    plant(place.repo, repo)
    plant(place.tmp, tmp)
    assert left_behind(place, taken.placed, attempt.template) == expected


def test_an_empty_folder_is_left_behind_unless_the_source_ignores_it(tmp_path: Path, run: RunRoot) -> None:
    attempt = Attempted(run, make_task(tmp_path / "t", {"a": "1", ".gitignore": "logs/\n"}, ORACLE))
    place, taken = attempt.verify()
    (place.repo / "logs").mkdir()
    (place.repo / "cache").mkdir()
    assert left_behind(place, taken.placed, attempt.template) == ("cache",)


def test_nothing_is_asked_of_git_where_the_source_ignores_nothing(
    tmp_path: Path, run: RunRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = Attempted(run, make_task(tmp_path / "t", {"a": "1"}, ORACLE), with_git=False)
    place, taken = attempt.verify()
    (place.repo / "x.log").touch()
    monkeypatch.setenv("PATH", "")
    assert left_behind(place, taken.placed, attempt.template) == ("x.log",)


def test_b27_an_outer_checkouts_ignore_file_excuses_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*\n", ".git/HEAD": "ref: refs/heads/main\n"})
    (tmp_path / ".git" / "objects").mkdir()
    (tmp_path / ".git" / "refs").mkdir()
    with open_run(tmp_path) as run:
        attempt = Attempted(run, make_task(tmp_path / "t", {"a": "1", ".gitignore": "*.o\n"}, ORACLE))
        place, taken = attempt.verify()
        (place.repo / "x.log").touch()
        assert left_behind(place, taken.placed, attempt.template) == ("x.log",)
