"""Globs of task.yaml and controls.yaml, over paths in bytes."""

from __future__ import annotations

import pytest

from tui_bench.engine.globs import Globs

CASES = [
    ("**", "a/b/c", True), ("**", "\udcff", True), ("src", "src/a/b", True), ("src/", "src/a", True),
    ("src", "srcs", False),
    ("src/**", "src/a/b.py", True), ("src/**", "lib/a", False), ("*.py", "a.py", True), ("*.py", "d/a.py", False),
    ("**/*.py", "a.py", True), ("**/*.py", "d/e/a.py", True), ("**/test/*", "test/x", True), ("a/**/z", "a/z", True),
    ("a/**/z", "a/b/c/z", True), ("a?c", "abc", True), ("a?c", "a/c", False), ("[ab]x", "bx", True),
    ("[!ab]x", "bx", False),
    ("[!a]x", "/x", False), ("[z-a]", "[z-a]", True), ("a[", "a[", True), ("run_tests.sh", "run_tests.sh", True),
    ("run_tests.sh", "sub/run_tests.sh", False), ("a.b", "axb", False), ("./src", "src/x", True),
    ("a\nb", "a\nb", True),
    ("caf?.txt", "caf\udce9.txt", True),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path", "covered"), CASES)
def test_a_pattern_covers_what_it_names_and_what_lies_below(pattern: str, path: str, covered: bool) -> None:
    assert Globs([pattern]).match(path.encode("utf-8", "surrogateescape")) is covered


def test_paths_of_controls_may_start_at_the_task_folder() -> None:
    assert Globs(["repo/"], from_task_folder=True).match(b"a/b")
    assert Globs(["repo/src/"], from_task_folder=True).match(b"src/x")
    assert not Globs(["repo/src/"], from_task_folder=True).match(b"lib/x")
    assert not Globs(["repo/"]).match(b"a")
    assert not Globs([], from_task_folder=True).match(b"a")


def test_only_a_pattern_without_wildcards_names_a_path() -> None:
    assert Globs(["Makefile"]).names(b"Makefile")
    assert not Globs(["**", "Make*", "sub"]).names(b"Makefile")
    assert not Globs(["sub"]).names(b"sub/Makefile")
