"""Task folders: the usual shapes, and broken ones, all named before the first attempt."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui_bench.errors import StudyError
from tui_bench.study.tasks import load_task


def test_the_bare_shape_protects_its_own_test(desk) -> None:
    task = load_task(desk.task("t01"))
    assert (task.id, task.verify, task.oracle) == ("t01", ("bash", "run_tests.sh"), None)
    assert task.protected == ("run_tests.sh",)
    assert (task.verify_timeout, task.writable, task.oracle_place) == (300.0, ("**",), "beside")
    assert (task.prompt, task.reference) == (task.folder / "prompt.md", None)


def test_everything_in_task_yaml_is_taken(desk) -> None:
    folder = desk.task(
        "t01",
        oracle__check_dot_py="assert True",
        reference_dot_patch="diff --git a/x b/x\n",
        task_dot_yaml="id: org/repo-12\nverify: python3 $ORACLE_DIR/check.py\nverify_timeout: 2.5\nfail_codes: [1, 2]\n"
        "expect: {tests: 3}\noracle_place: overlay\nlanguage: python\ncluster: parsing\nbase_commit: abc\n"
        "floor_pass: 1\nfloor_n: 3\nprotected: [a.toml]\nwritable: [src/**]\nreadable_paths: [/usr/share, data]\n"
        "network: open\n",
    )
    task = load_task(folder)
    assert (task.id, task.verify, task.verify_timeout) == ("org/repo-12", "python3 $ORACLE_DIR/check.py", 2.5)
    assert (task.fail_codes, task.expect_tests, task.oracle_place) == (frozenset({1, 2}), 3, "overlay")
    assert (task.language, task.cluster, task.base_commit) == ("python", "parsing", "abc")
    assert (task.floor_pass, task.floor_n, task.protected) == (1, 3, ("a.toml",))
    assert (task.writable, task.network) == (("src/**",), "open")
    assert task.readable_paths == (Path("/usr/share"), folder / "data")
    assert (task.oracle, task.reference) == (folder / "oracle", folder / "reference.patch")


def test_a_harbor_shaped_folder_beside_a_repo(desk) -> None:
    desk.write("tasks/h/task.toml", 'version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n')
    desk.write("tasks/h/instruction.md", "Mend it.\n")
    desk.write("tasks/h/tests/test.sh", "exit 0\n")
    desk.write("tasks/h/repo/main.py", "")
    folder = desk.root / "tasks" / "h"
    task = load_task(folder)
    assert (task.prompt, task.oracle) == (folder / "instruction.md", folder / "tests")
    assert (task.verify, task.verify_timeout) == ('bash "$ORACLE_DIR/test.sh"', 60.0)
    os.rename(folder / "repo", folder / "environment")
    with pytest.raises(StudyError, match=r"has no folder repo/; copy what environment/ puts into the image"):
        load_task(folder)
    desk.write("tasks/h/task.toml", "[verifier\n")
    with pytest.raises(StudyError, match=r"task.toml: is not valid TOML"):
        load_task(folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source: {repo: x, commit: y}", "source: is not available in this version; put the tree in repo/"),
        ("setup: make", "setup: is not available in this version"),
        ("verify: ''", "verify: is empty"),
        ("verify: []", "verify: is an empty list"),
        ("verify: {a: b}", "verify: is a mapping"),
        ("verify_timeout: 0", "verify_timeout: 0 is out of range; allowed: 0.1 to 604800 seconds"),
        ("fail_codes: [0]", "fail_codes: 0 is out of range; allowed: 1 to 255"),
        ("fail_codes: 1", "fail_codes: is '1'; a list such as [a, b] is wanted"),
        ("expect: {tests: many}", "tests: 'many' is not a whole number"),
        ("expect: 3", "expect: is '3'; a mapping such as {tests: ...}"),
        ("oracle_place: over", "known: beside, overlay"),
        ("oracle_place: overlay", "there is no oracle/"),
        ("floor_pass: 4\nfloor_n: 3", "floor_pass: 4 passes need at least as many runs"),
        ("protected: [../x]", "'../x' leaves the tree"),
        ("verfy: x", "unknown key 'verfy'; nearest known: 'verify'"),
        ("- a", "task.yaml is a mapping"),
        ("network: no", "write denied"),
    ],
)
def test_task_yaml_is_refused_with_its_line(desk, text: str, words: str) -> None:
    folder = desk.task("t01", task_dot_yaml=f"{text}\n")
    with pytest.raises(StudyError) as caught:
        load_task(folder)
    assert str(caught.value).startswith("bench/tasks/t01/task.yaml:1: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_b71_every_broken_task_is_named_and_no_other(desk) -> None:
    desk.study(bench_dot_yaml="study: s\ntasks: tasks\nenvironments: envs.tsv\nagents: [{name: a, kind: nop}]\n")
    for number in range(2, 8):
        desk.task(f"t0{number}")
    tasks = desk.root / "tasks"
    (tasks / "t02/prompt.md").unlink()
    (tasks / "t02/prompt.md").mkdir()
    (tasks / "t03/repo/run_tests.sh").unlink()
    (tasks / "t04/prompt.md").write_bytes(b"caf\xe9")
    (tasks / "t05/prompt.md").unlink()
    os.mkfifo(tasks / "t05/prompt.md")
    (tasks / "t06/prompt.md").unlink()
    desk.write("tasks/t07/oracle", "a file")
    assert desk.problems() == [
        "bench/tasks/t02/prompt.md: cannot be read: it is not a regular file",
        "bench/tasks/t03: has no repo/run_tests.sh, no oracle/ and no verify; write one of them",
        "bench/tasks/t04/prompt.md: is not UTF-8 (byte 3); save it as UTF-8",
        "bench/tasks/t05/prompt.md: cannot be read: it is not a regular file",
        "bench/tasks/t06: has no prompt.md; write what the agent is to do",
        "bench/tasks/t07: has oracle/ and no verify; write the command into task.yaml, such as"
        " verify: [python3, $ORACLE_DIR/check.py]",
        "bench/tasks/t07/oracle: is no folder; the hidden tests lie in a folder",
    ]


def test_b71_an_unreadable_prompt_or_tree_is_named(desk) -> None:
    desk.study()
    desk.task("t02")
    (desk.root / "tasks/t01/prompt.md").chmod(0)
    (desk.root / "tasks/t02/repo").chmod(0)
    if os.access(desk.root / "tasks/t01/prompt.md", os.R_OK):
        pytest.skip("this user may read every file")
    found = desk.problems()
    (desk.root / "tasks/t02/repo").chmod(0o700)
    assert "bench/tasks/t01/prompt.md: cannot be read: Permission denied" in found
    assert "bench/tasks/t02/repo: cannot be read; give yourself read permission" in found


def test_hidden_folders_and_files_are_no_tasks(desk) -> None:
    desk.study()
    desk.write("tasks/.git/HEAD", "x")
    desk.write("tasks/__pycache__/x", "x")
    desk.write("tasks/README.md", "x")
    assert [task.id for task in desk.load().tasks] == ["t01"]


@pytest.mark.parametrize("name", ["org/repo-12", "fix the parser", "a:b", "T1", "日本", "..x", "x" * 200])
def test_b53_ids_stand_unchanged(desk, name: str) -> None:
    folder = desk.task("t01", task_dot_yaml=f'id: "{name}"\n')
    assert load_task(folder).id == name


ESCAPED = (r"a\nb", r"a\u202eb", r"a\u200fb", r"e\u0301", r"a\\..\\b")
"""As a double-quoted YAML text writes them."""


@pytest.mark.parametrize("name", ["../x", "a/../b", "..", ".", "", " ", "-rf", "x" * 201, *ESCAPED])
def test_d11_ids_that_are_refused_with_file_and_line(desk, name: str) -> None:
    folder = desk.task("t01", task_dot_yaml=f'language: x\nid: "{name}"\n')
    with pytest.raises(StudyError) as caught:
        load_task(folder)
    assert str(caught.value).startswith("bench/tasks/t01/task.yaml:2: id: ")
    assert str(caught.value).isprintable()


def test_d11_a_folder_name_that_is_no_id_is_shown_escaped(desk) -> None:
    desk.study()
    os.rename(os.fsencode(desk.root / "tasks/t01"), os.fsencode(desk.root / "tasks") + b"/\xff\x1b[2J")
    found = desk.problem()
    assert "holds a control, bidirectional or invisible character" in found
    assert found.isprintable()


def test_b54_the_same_id_twice_names_both_places(desk) -> None:
    desk.study()
    desk.task("t02", task_dot_yaml="language: x\nid: t01\n")
    taken = "task id 't01' is taken by 't01' (bench/tasks/t01); rename one"
    assert desk.problem() == f"bench/tasks/t02/task.yaml:2: {taken}"


def test_d11_ids_that_differ_only_in_case_are_refused(desk) -> None:
    desk.study()
    desk.task("T01")
    assert "task id 't01' is taken by 'T01'" in desk.problem()
