"""What reaches the verify tree of what an agent did, and what never does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from treebench import Attempted, make_task, open_run, plant, tree_of

from tui_bench.engine.verify_tree import stays_inside
from tui_bench.engine.workspace import RunRoot
from tui_bench.study.model import Controls

SOURCE = {
    "app/main.py": "BUG\n", "app/__init__.py": "", "lib/util.py": "1\n", "conftest.py": "base\n",
    "Makefile": "test:\n\tfalse\n",
    "pyproject.toml": "[project]\nname='x'\n[tool.pytest.ini_options]\naddopts='-q'\n",
    "package.json": '{"scripts": {"test": "t"}}',
    "run_tests.sh": "exit 1\n", "tests/test_a.py": "assert False\n", "queue.py": "own\n", "keep/.gitkeep": "",
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunRoot]:
    with open_run(tmp_path) as opened:
        yield opened


@pytest.fixture
def attempt(tmp_path: Path, run: RunRoot) -> Attempted:
    return Attempted(run, make_task(tmp_path / "task", SOURCE, {"run.sh": "exit 0\n", "data/x": "1"}))


def test_a_clean_verify_tree_is_the_source_with_the_oracle_beside_it(attempt: Attempted) -> None:
    place, taken = attempt.verify()
    assert tree_of(place.repo) == tree_of(attempt.task.repo)
    assert place.oracle is not None
    assert tree_of(place.oracle) == tree_of(attempt.task.folder / "oracle")
    assert (taken.dropped, taken.forbidden) == ((), ())
    assert os.listdir(place.home) == os.listdir(place.tmp) == []
    assert not (place.repo / ".git").exists()


def test_allowed_changes_are_taken_over_whatever_git_knows_of_them(attempt: Attempted) -> None:
    attempt.sh("""
        echo fixed > app/main.py; chmod +x app/main.py; git add -A; git commit -qm fix; rm lib/util.py; mkdir -p pkg/sub
        echo new > pkg/sub/new.py; ln -s ../app/main.py pkg/link; rm -r keep
        git init -q pkg/nested; echo n > pkg/nested/f
    """)
    place, taken = attempt.verify()
    assert tree_of(place.repo) == tree_of(attempt.repo)
    assert taken.dropped == ()
    assert not (place.repo / "lib").exists()
    assert not (place.repo / "keep").exists()


def test_every_replay_gets_the_same_fresh_tree(attempt: Attempted) -> None:
    attempt.sh("echo fixed > app/main.py")
    first, _ = attempt.verify()
    (first.repo / "app" / "main.py").write_text("verify wrote here")
    assert first.oracle is not None
    (first.oracle / "run.sh").write_text("exit 0 # swapped")
    second, _ = attempt.verify()
    assert tree_of(second.repo) == tree_of(attempt.repo)
    assert second.oracle is not None
    assert tree_of(second.oracle) == tree_of(attempt.task.folder / "oracle")


DENIED = [
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "app/conftest.py",
    "sitecustomize.py",
    "usercustomize.py", "x.pth", "app/main.pyc", "evil.dist-info/entry_points.txt", "evil.egg-info/PKG-INFO",
    "a.egg-link",
    "GNUmakefile", "makefile", "sub/Makefile", ".bash_profile", ".profile", ".coveragerc", "noxfile.py",
    "jest.config.js",
    "pytest.py", "_pytest/__init__.py", "unittest.py", "json.py", "json/__init__.py",
    "random.cpython-311-x86_64-linux-gnu.so",
    "CONFTEST.py", "pluggy.py", "test/__init__.py", ".npmrc",
]  # fmt: skip


@pytest.mark.parametrize("name", DENIED)
def test_d16_d17_start_up_files_and_shadowing_modules_are_dropped_and_listed(attempt: Attempted, name: str) -> None:
    plant(attempt.repo, {name: "evil"})
    attempt.sh("echo fixed > app/main.py")
    place, taken = attempt.verify()
    assert taken.dropped == (name,)
    assert taken.forbidden == ()
    assert not (place.repo / name).exists()
    assert (place.repo / "app" / "main.py").read_text() == "fixed\n"


ALLOWED = ["app/json.py", "app/types.py", "queue.py", "code/x.txt", "json.md", "docs/conf.py", "src/random/__init__.py",
           "setup.py", "pyproject.md", "mytest.py", "email/template.html"]  # fmt: skip


@pytest.mark.parametrize("name", ALLOWED)
def test_names_that_shadow_nothing_are_taken_over(attempt: Attempted, name: str) -> None:
    attempt.sh("rm -f queue.py")
    plant(attempt.repo, {name: "good"})
    place, taken = attempt.verify()
    assert taken.dropped == ()
    assert (place.repo / name).read_text() == "good"


CONFIG_EDITS = [
    "echo evil > conftest.py", "rm conftest.py", "printf 'test:\\n\\ttrue\\n' > Makefile",
    "rm conftest.py; ln -s app/main.py conftest.py", "rm conftest.py; mkdir conftest.py",
]  # fmt: skip


@pytest.mark.parametrize("script", CONFIG_EDITS)
def test_d16_a_denied_file_of_the_source_stays_as_it_was(attempt: Attempted, script: str) -> None:
    attempt.sh(script)
    place, taken = attempt.verify()
    assert taken.dropped in (("conftest.py",), ("Makefile",))
    assert tree_of(place.repo) == tree_of(attempt.task.repo)


PROJECT = [
    ("pyproject.toml", "[project]\nname='y'\n[tool.pytest.ini_options]\naddopts='-q'\n[tool.black]\nline=1\n", True),
    ("pyproject.toml", "[project]\nname='x'\n[tool.pytest.ini_options]\naddopts='--collect-only'\n", False),
    ("pyproject.toml", "[project]\nname='x'\n", False),
    ("pyproject.toml", "not toml [", False),
    ("app/pyproject.toml", "[tool.pytest.ini_options]\naddopts='--collect-only'\n", False),
    ("app/pyproject.toml", "[project]\nname='z'\n", True),
    ("package.json", '{"scripts": {"test": "t"}, "dependencies": {"a": "1"}}', True),
    ("package.json", '{"scripts": {"test": "true"}}', False),
    ("package.json", "[]", False),
    ("package.json", "[" * 100_000, False),
]


@pytest.mark.parametrize(("name", "text", "taken_over"), PROJECT)
def test_d16_project_files_are_taken_over_only_with_the_same_test_settings(
    attempt: Attempted, name: str, text: str, taken_over: bool
) -> None:
    (attempt.repo / name).write_text(text)
    place, taken = attempt.verify()
    assert taken.dropped == (() if taken_over else (name,))
    assert ((place.repo / name).exists() and (place.repo / name).read_text() == text) == taken_over


def test_what_a_task_names_without_a_wildcard_is_writable_although_denied(tmp_path: Path, run: RunRoot) -> None:
    attempt = Attempted(run, make_task(tmp_path / "t2", SOURCE, writable=("Makefile", "app/**")))
    attempt.sh("echo new > Makefile; echo x > app/main.py; echo x > lib/util.py; echo x > app/conftest.py")
    place, taken = attempt.verify()
    assert taken.dropped == ("app/conftest.py", "lib/util.py")
    assert (place.repo / "Makefile").read_text() == "new\n"
    assert (place.repo / "lib" / "util.py").read_text() == "1\n"


def test_controls_narrow_what_the_task_allows_in_paths_of_the_task_folder(attempt: Attempted) -> None:
    attempt.sh("echo x > app/main.py; echo x > lib/util.py")
    assert attempt.verify(Controls(writable_paths=("repo/",)))[1].dropped == ()
    assert attempt.verify(Controls(writable_paths=("repo/app/",)))[1].dropped == ("lib/util.py",)
    assert attempt.verify(Controls(writable_paths=("app/**",)))[1].dropped == ("lib/util.py",)


def test_b34_a_protected_path_that_differs_is_forbidden_and_one_put_back_is_not(tmp_path: Path, run: RunRoot) -> None:
    task = make_task(tmp_path / "t2", SOURCE, protected=("run_tests.sh", "tests/**"))
    edited = Attempted(run, task)
    edited.sh("echo exit 0 > run_tests.sh; rm tests/test_a.py; echo x > tests/new.py; echo ok > app/main.py")
    place, taken = edited.verify()
    assert taken.forbidden == ("run_tests.sh", "tests/new.py", "tests/test_a.py")
    assert (place.repo / "run_tests.sh").read_text() == "exit 1\n"
    restored = Attempted(run, task)
    restored.sh("cp run_tests.sh x; echo exit 0 > run_tests.sh; cat x > run_tests.sh; rm x; echo ok > app/main.py")
    place, taken = restored.verify()
    assert (taken.forbidden, taken.dropped) == ((), ())
    assert (task.repo / "run_tests.sh").read_text() == "exit 1\n"


TEST_EDITS = [
    "chmod +x run_tests.sh", "rm run_tests.sh; ln -s app/main.py run_tests.sh", "rm run_tests.sh",
    "rm run_tests.sh; mkdir run_tests.sh; echo x > run_tests.sh/y",
]  # fmt: skip


@pytest.mark.parametrize("script", TEST_EDITS)
def test_b34_mode_link_removal_and_folder_are_edits_too(tmp_path: Path, run: RunRoot, script: str) -> None:
    attempt = Attempted(run, make_task(tmp_path / "t2", SOURCE, protected=("run_tests.sh",)))
    attempt.sh(script)
    place, taken = attempt.verify()
    assert taken.forbidden[0] == "run_tests.sh"
    assert (place.repo / "run_tests.sh").read_text() == "exit 1\n"


def test_forbidden_edits_of_the_controls_count_like_protected_paths(attempt: Attempted) -> None:
    attempt.sh("echo x > app/main.py; echo y > lib/util.py")
    controls = Controls(forbidden_edits=("repo/app/", "oracle/", "controls.yaml"))
    assert attempt.verify(controls)[1].forbidden == ("app/main.py",)


OVERLAY = {"tests/test_a.py": "real test\n", "tests/helper.py": "h\n", "run.sh": "exit 0\n"}


@pytest.mark.parametrize(
    ("script", "dropped"),
    [
        (":", ()),
        ("echo exit 0 > tests/test_a.py", ("tests/test_a.py",)),
        ("echo evil > tests/helper.py; echo evil > run.sh", ("run.sh", "tests/helper.py")),
        ("rm -r tests", ("tests/test_a.py",)),
        ("rm -r tests; ln -s app tests", ("tests", "tests/test_a.py")),
        ("rm -r tests; echo x > tests", ("tests", "tests/test_a.py")),
        ("mkdir run.sh; echo x > run.sh/y", ("run.sh/y",)),
        ("mkdir tests/helper.py; echo x > tests/helper.py/__init__.py", ("tests/helper.py/__init__.py",)),
    ],
)
def test_b34_an_overlaid_oracle_wins_over_whatever_lies_at_its_places(
    tmp_path: Path, run: RunRoot, script: str, dropped: tuple[str, ...]
) -> None:
    attempt = Attempted(run, make_task(tmp_path / "t2", SOURCE, OVERLAY, oracle_place="overlay"))
    attempt.sh(script)
    place, taken = attempt.verify()
    assert place.oracle is None
    assert taken.dropped == dropped
    for name, text in OVERLAY.items():
        assert (place.repo / name).read_text() == text
        assert not (place.repo / name).is_symlink()
    assert (attempt.task.folder / "oracle" / "run.sh").read_text() == "exit 0\n"


LINKS = [
    ("a", "b", True), ("a", "./b/c", True), ("d/a", "../b", True), ("d/e/a", "../../b", True), ("a", ".", True),
    ("a", "/etc/passwd", False), ("a", "../b", False), ("d/a", "../../b", False), ("d/a", "e/../../../b", False),
    ("a", "d/../b", False), ("a", "", False), ("d/a", "..", True), ("a", "..", False),
]  # fmt: skip


@pytest.mark.parametrize(("path", "target", "inside"), LINKS)
def test_only_links_that_stay_inside_are_kept(path: str, target: str, inside: bool) -> None:
    assert stays_inside(path.encode(), target.encode()) is inside


def test_d09_links_that_leave_the_tree_are_dropped_and_nothing_is_written_through_them(
    attempt: Attempted, tmp_path: Path
) -> None:
    outside = plant(tmp_path / "outside", {"main.py": "keep"})
    attempt.sh(f"ln -s {outside} abs; ln -s ../../../outside up; rm -r app; ln -s {outside} app; ln -s lib good")
    place, taken = attempt.verify()
    assert set(taken.dropped) >= {"abs", "up", "app"}
    assert (place.repo / "good").resolve() == place.repo / "lib"
    assert (outside / "main.py").read_text() == "keep"
    assert os.listdir(outside) == ["main.py"]


def test_d09_no_link_of_the_source_leads_a_write_out_of_the_tree(tmp_path: Path, run: RunRoot) -> None:
    outside = plant(tmp_path / "outside", {"keep": "1"})
    attempt = Attempted(run, make_task(tmp_path / "t2", {"out": f"->{outside}", "a": "1"}, protected=("out",)))
    attempt.sh("rm out; mkdir out; echo x > out/x; echo 2 > a")
    place, taken = attempt.verify()
    assert taken.forbidden == ("out", "out/x")
    assert os.listdir(outside) == ["keep"]
    assert (place.repo / "a").read_text() == "2\n"


def test_d09_a_link_of_the_source_that_had_to_stay_is_not_written_through(tmp_path: Path, run: RunRoot) -> None:
    outside = plant(tmp_path / "outside", {"keep": "1"})
    attempt = Attempted(run, make_task(tmp_path / "t2", {"out": f"->{outside}", "a": "1"}, writable=("out/x", "a")))
    attempt.sh("rm out; mkdir out; echo x > out/x; echo 2 > a")
    place, taken = attempt.verify()
    assert taken.dropped == ("out", "out/x")
    assert os.listdir(outside) == ["keep"]
    assert (place.repo / "a").read_text() == "2\n"


def test_b05_raw_names_are_taken_over_and_shown_escaped(attempt: Attempted) -> None:
    plant(attempt.repo, {"caf\udce9\udcff.txt": "1", "na\udcff/conftest.py": "evil"})
    place, taken = attempt.verify()
    assert taken.dropped == ("na\\xff/conftest.py",)
    taken.dropped[0].encode("utf-8")
    assert tree_of(place.repo)[b"caf\xe9\xff.txt"][1] == b"1"


@pytest.mark.parametrize("where", ["tree/app/main.py", "oracle/run.sh"])
def test_a_template_that_somebody_edited_is_not_copied(attempt: Attempted, where: str) -> None:
    target = attempt.template.folder / where
    times = target.stat()
    target.write_text("x" * times.st_size)
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(OSError, match="changed after"):
        attempt.verify()


def test_bytecode_cannot_stand_in_for_an_oracles_helper(tmp_path: Path, run: RunRoot) -> None:
    """An unchecked pyc beside the hidden test would run instead of the source that was hashed."""
    hidden = {"helper.py": "VALUE = 'source'\n", "t.py": "import helper; print(helper.VALUE)"}
    task = make_task(tmp_path / "t2", {"a.py": "1"}, hidden)
    evil = plant(tmp_path / "evil", {"helper.py": "VALUE = 'evil'\n"}) / "helper.py"
    mode = "invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH"
    script = f"import py_compile as p, sys; p.compile(*sys.argv[1:], {mode})"
    cache = task.folder / "oracle" / "__pycache__" / f"helper.{sys.implementation.cache_tag}.pyc"
    subprocess.run([sys.executable, "-c", script, str(evil), str(cache)], check=True)
    place, _ = Attempted(run, task).verify()
    assert place.oracle is not None
    done = subprocess.run([sys.executable, str(place.oracle / "t.py")], capture_output=True, text=True, check=True)
    assert done.stdout == "source\n"
