"""Whatever an agent does to its tree or its repository, the patch is what changed against the recorded base."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from treebench import Attempted, make_task, open_run, plant, tree_of

from tui_bench.engine import diff, tree_patch
from tui_bench.engine.copier import copy_tree
from tui_bench.engine.redact import Redactor
from tui_bench.engine.workspace import RunRoot

SOURCE = {
    "a.py": "one\ntwo\nthree\n", "src/b.py": "b\n", "src-x": "s\n", "src.py": "s\n",
    "src/deep/c.txt": "no newline at the end", "tool.sh": "#!/bin/sh\n",
    "link": "->a.py", "crlf.txt": "x\r\ny\r\n", "na\udcffme.txt": "raw", ".gitignore": "*.log\nbuild/\n",
    ".gitattributes": "*.txt text eol=crlf\n*.py filter=f diff=d\n", "bin.dat": bytes(range(256)),
}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunRoot]:
    with open_run(tmp_path) as opened:
        yield opened


@pytest.fixture
def attempt(tmp_path: Path, run: RunRoot) -> Attempted:
    return Attempted(run, make_task(tmp_path / "task", SOURCE))


def applied(attempt: Attempted, patch: Path) -> Path:
    """A fresh copy of the source with the patch applied to it."""
    fresh = attempt.out.parent / f"fresh-{os.urandom(4).hex()}"
    copy_tree(attempt.template.tree, fresh)
    assert tree_patch.apply(fresh, patch) is None
    return fresh


def assert_round_trip(attempt: Attempted) -> None:
    change = attempt.change()
    assert change.error is None
    assert change.diff_error is None
    assert change.left_out == ()
    assert change.patch_sha256 is not None
    assert len(change.patch_sha256) == 64
    assert change.diff is not None
    assert tree_of(applied(attempt, change.diff)) == tree_of(attempt.repo)
    # git shows a file that becomes a link as removed and added
    shown = sum(2 if one.what == "type" else 1 for one in change.paths)
    assert change.diff.read_bytes().count(b"diff --git ") <= shown


EDITS = {
    "b22_new_file": "mkdir new; echo x > new/file.py",
    "b23_staged": "echo y >> a.py; echo n > n.txt; git add -A",
    "b23_committed": "echo y >> a.py; git commit -qam work",
    "b23_branch": "git checkout -qb b; echo y >> a.py; git commit -qam w; git checkout -qf main; git reset -q --hard b",
    "b23_work_left_on_the_tree_of_another_branch": "git checkout -qb other; echo y >> a.py; git commit -qam work",
    "b23_amended_base": "echo y >> a.py; git commit -qa --amend -m base",
    "b23_deleted_git": "rm -rf .git; echo y >> a.py",
    "b23_own_git": "rm -rf .git; git init -q; echo y >> a.py; git add -A; git commit -qm all",
    "b23_git_is_a_file": "rm -rf .git; echo 'gitdir: /nowhere' > .git; echo y >> a.py",
    "b23_skip_worktree": "git update-index --skip-worktree a.py; echo y >> a.py",
    "b24_binary": "head -c 3000 /dev/urandom > image.bin; printf '\\0' >> a.py",
    "b24_binary_edited": "printf 'x' >> bin.dat",
    "b24_binary_removed": "rm bin.dat",
    "ignored_by_gitignore": "echo x > debug.log; mkdir build; echo y > build/out.o",
    "mode": "chmod +x a.py",
    "mode_and_content": "chmod +x src/b.py; echo z >> src/b.py",
    "link_added": "ln -s src/deep lnk; ln -s /etc/passwd abs",
    "link_retargeted": "rm link; ln -s src/b.py link",
    "link_to_file": "rm link; echo plain > link",
    "file_to_link": "rm a.py; ln -s src/b.py a.py",
    "rename": "mv a.py renamed.py",
    "rename_of_a_folder": "mv src lib",
    "file_to_folder": "rm a.py; mkdir a.py; echo x > a.py/x",
    "folder_to_file": "rm -r src; echo x > src",
    "a_folder_between_names_that_git_sorts_around_it": "echo x >> src/b.py",
    "everything_removed": "rm -rf ./* .gitignore .gitattributes",
    "b05_raw_name": "printf x > \"$(printf 'caf\\351 \\377')\"; echo y >> \"$(printf 'na\\377me.txt')\"",
    "odd_names": "for n in \"$(printf 'a\\nb')\" 'q\"uo\\te' ' blank ' -rf ':(top)'; do echo x > \"$n\"; done",
    "b25_no_newline": "printf 'no end' > a.py; printf 'now one\\n' >> src/deep/c.txt",
    "crlf": "printf 'a\\r\\nb\\r\\n' > crlf.txt",
    "trailing_blanks": "printf 'x   \\n\\t\\n\\n\\n' >> a.py",
    "b29_nested_repository": "git init -q sub; cd sub; echo x > f; git add f; git commit -qm f",
    "locked_for_reading": "echo x > hidden; chmod 000 hidden; mkdir box; echo y > box/y; chmod 000 box",
    "attributes_changed": "printf '* -diff binary\\n' > .gitattributes; echo y >> a.py",
}


@pytest.mark.parametrize("script", EDITS.values(), ids=EDITS.keys())
def test_the_patch_applied_to_a_fresh_checkout_gives_the_agents_tree(attempt: Attempted, script: str) -> None:
    attempt.sh(script)
    assert_round_trip(attempt)


UNCHANGED = {
    "b26_nothing": ":",
    "b26_edited_and_reverted": "cp a.py x; echo y >> a.py; mv x a.py",
    "b26_touched": "touch -d 2001-01-01 a.py src link",
    "committed_nothing": "git commit -q --allow-empty -m x; git checkout -qb other",
    "usage_file": "echo '{}' > usage.json",
    "caches": "mkdir __pycache__ src/__pycache__ .pytest_cache; touch __pycache__/a.pyc .pytest_cache/README.md",
    "empty_folder": "mkdir -p x/y/z",
    "file_permissions": "chmod 600 a.py",
    "pipe": "mkfifo pipe",
}


@pytest.mark.parametrize("script", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_b26_what_changes_no_file_is_empty(attempt: Attempted, script: str) -> None:
    attempt.sh(script)
    change = attempt.change()
    assert (change.patch_sha256, change.error, change.diff) == ("empty", None, None)
    assert os.listdir(attempt.out) == []


def test_b22_the_agents_index_is_left_as_it_was(attempt: Attempted) -> None:
    attempt.sh("echo x > new.py; echo s > staged.py; git add staged.py")
    before = (attempt.repo / ".git" / "index").read_bytes()
    attempt.change()
    assert (attempt.repo / ".git" / "index").read_bytes() == before


def test_the_digest_tells_trees_apart_and_not_ways_to_them(tmp_path: Path, run: RunRoot) -> None:
    task = make_task(tmp_path / "task", SOURCE)
    scripts = ["echo x > n", "echo x > n; git add -A; git commit -qm n; rm -rf .git", "echo y > n", "echo x > m",
               "echo x > n; chmod +x n", "ln -s x n", "echo x > n; rm a.py"]  # fmt: skip
    found = []
    for script in scripts:
        one = Attempted(run, task)
        one.sh(script)
        found.append(one.change().patch_sha256)
    assert found[0] == found[1]
    assert len(set(found)) == len(scripts) - 1


def test_b24_a_file_above_the_limit_counts_but_is_listed_instead_of_shown(attempt: Attempted) -> None:
    (attempt.repo / "dump.sql").write_bytes(b"x" * (diff.FILE_LIMIT + 1))
    attempt.sh("echo fix >> a.py; head -c 3000000 /dev/urandom > tool; chmod +x tool")
    change = attempt.change()
    assert change.left_out == ("dump.sql (larger than 8 MiB)",)
    assert {one.path for one in change.paths} == {b"dump.sql", b"a.py", b"tool"}
    assert change.diff is not None
    fresh = applied(attempt, change.diff)
    (attempt.repo / "dump.sql").unlink()
    assert tree_of(fresh) == tree_of(attempt.repo)


def test_pipes_sockets_and_nested_repositories_are_reported(attempt: Attempted) -> None:
    attempt.sh("mkfifo pipe; git init -q sub; echo x > sub/f")
    change = attempt.change()
    assert change.left_out == ("pipe (no regular file)",)
    assert change.nested == ("sub",)
    assert [one.path for one in change.paths] == [b"sub/f"]


def test_a_name_that_git_takes_for_its_own_is_counted_and_listed(attempt: Attempted) -> None:
    plant(attempt.repo, {".GIT/config": "x", "ok.txt": "y"})
    change = attempt.change()
    assert change.left_out == (".GIT/config (git takes no such name)",)
    assert len(change.paths) == 2
    assert change.diff is not None


@pytest.mark.parametrize("how", ["removed", "link", "file"])
def test_a_workspace_that_is_gone_counts_as_emptied(attempt: Attempted, how: str, tmp_path: Path) -> None:
    plant(tmp_path / "secret", {"key": "do not copy"})
    shutil.rmtree(attempt.repo)
    if how == "link":
        attempt.repo.symlink_to(tmp_path / "secret")
    elif how == "file":
        attempt.repo.write_text("x")
    change = attempt.change()
    assert all(one.after is None for one in change.paths)
    assert len(change.paths) == len(SOURCE)
    assert change.diff is not None
    assert tree_of(applied(attempt, change.diff)) == {}
    place, _ = attempt.verify()
    assert "key" not in os.listdir(place.repo)


def test_d09_foreign_content_behind_links_is_in_no_artefact(attempt: Attempted, tmp_path: Path) -> None:
    plant(tmp_path / "secret", {"key": "CANARY-TEXT"})
    secret = tmp_path / "secret"
    attempt.sh(f"ln -s {secret} folder; ln -s {secret}/key file; rm -r src; ln -s {secret} src")
    change = attempt.change()
    assert change.diff is not None
    assert b"CANARY-TEXT" not in change.diff.read_bytes()
    place, _ = attempt.verify()
    assert not any(b"CANARY-TEXT" in content for _, content, _ in tree_of(place.repo).values())


def test_d20_nothing_of_the_agents_repository_runs(attempt: Attempted, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = plant(tmp_path / "evil", {"x": f"#!/bin/sh\ntouch {canary}\n"}) / "x"
    program.chmod(0o755)
    attempt.sh(
        f"""
        git config core.fsmonitor {program}; git config diff.external {program}; git config core.pager {program}
        git config filter.f.clean {program}; git config filter.f.smudge {program}; git config filter.f.process {program}
        git config diff.d.textconv {program}; git config diff.d.command {program}; git config core.hooksPath .git/hooks
        git config core.sshCommand {program}; git config core.alternateRefsCommand {program}
        mkdir -p .git/hooks .git/info; for hook in post-index-change pre-commit post-checkout reference-transaction; do
        cp {program} .git/hooks/$hook; done
        printf '* filter=f diff=d\\n' > .git/info/attributes; printf '* filter=f diff=d\\n' > .gitattributes
        echo fix >> a.py; echo x > untracked.py; mkdir sub; cp -r .git sub/.git; echo n > sub/nested.py
        """
    )
    canary.unlink(missing_ok=True)
    change = attempt.change()
    assert {one.path for one in change.paths} == {b".gitattributes", b"a.py", b"untracked.py", b"sub/nested.py"}
    assert change.nested == ("sub",)
    assert_round_trip(attempt)
    attempt.verify()
    assert not canary.exists()


def test_d14_a_tree_too_deep_for_any_path_is_collected(attempt: Attempted) -> None:
    here = os.open(attempt.repo, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("dddd", dir_fd=here)
        below = os.open("dddd", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    change = attempt.change()
    assert len(change.paths) == 1
    assert change.left_out[0].endswith("(path longer than 4000 bytes)")
    _, taken = attempt.verify()
    assert len(taken.dropped) == 1


ORDINARY_USER = """
import encodings.ascii, os, sys
from pathlib import Path
from treebench import Attempted, make_task, open_run
os.setgroups([]); os.setgid(65534); os.setuid(65534)
place = Path(sys.argv[1])
with open_run(place) as run:
    attempt = Attempted(run, make_task(place / "task", {"a": "1", "d/b": "2"}), with_git=False)
    attempt.sh("echo x > d/new; chmod 000 d/new d/b a; mkdir -p e/f; echo y > e/f/g; chmod 000 e/f e d")
    change = attempt.change()
    print(change.error, sorted(one.path for one in change.paths))
    os.chmod(attempt.repo / "d", 0); os.chmod(attempt.repo / "e", 0)
    made, taken = attempt.verify()
    print((made.repo / "e" / "f" / "g").read_text(), taken.dropped)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="tried by root as another user; others meet it above")
def test_d14_what_an_agent_locked_is_read_by_an_ordinary_user_too() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chown(place, 65534, 65534)
        command = [sys.executable, "-c", ORDINARY_USER, place]
        variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
        assert done.stdout == "None [b'd/new', b'e/f/g']\ny\n ()\n", done.stderr


def test_b33_secret_values_do_not_reach_the_diff(attempt: Attempted) -> None:
    secret = "sk-very-secret-0123456789"
    (attempt.repo / "config.py").write_text(f'KEY = "{secret}"\n')
    (attempt.repo / "state.bin").write_bytes(b"\0" + secret.encode())
    change = attempt.change(redact=Redactor([secret]).clean_bytes)
    assert change.diff is not None
    assert secret.encode() not in change.diff.read_bytes()
    assert b'+KEY = "[redacted]"' in change.diff.read_bytes()
    assert change.left_out == ("state.bin (binary file that holds a secret value)",)


def test_b25_a_patch_is_stored_as_git_made_it_and_applies_twice(attempt: Attempted) -> None:
    attempt.sh("printf 'last line\\n' >> a.py")
    first = attempt.change().diff
    assert first is not None
    stored = first.read_bytes()
    assert stored.endswith(b"+last line\n")
    applied(attempt, first)
    applied(attempt, first)
    assert first.read_bytes() == stored


def test_a_patch_that_does_not_apply_is_reported_and_changes_nothing(attempt: Attempted, tmp_path: Path) -> None:
    attempt.sh("echo y >> a.py; echo n > new.txt")
    patch = attempt.change().diff
    assert patch is not None
    other = plant(tmp_path / "other", {"a.py": "entirely different\n"})
    reason = tree_patch.apply(other, patch)
    assert reason is not None
    assert "does not apply" in reason
    assert "\n" not in reason
    assert tree_of(other) == {b"a.py": ("file", b"entirely different\n", False)}


@pytest.mark.parametrize("text", ["--- a/../../out\n+++ b/../../out\n@@ -0,0 +1 @@\n+x\n", "garbage\n"])
def test_a_patch_cannot_leave_the_tree(tmp_path: Path, text: str) -> None:
    inner = plant(tmp_path / "x" / "y", {"a": "1\n"})
    patch = plant(tmp_path, {"p.diff": text}) / "p.diff"
    assert tree_patch.apply(inner, patch) is not None
    assert not (tmp_path / "out").exists()


def test_b27_a_patch_is_applied_without_a_look_at_an_outer_checkout(tmp_path: Path) -> None:
    outer = plant(tmp_path / "outer", {"in/a": "1\n"})
    subprocess.run(["git", "init", "-q"], cwd=outer, check=True)
    (outer / ".git" / "config").write_text("[broken")
    patch = plant(tmp_path, {"p": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"}) / "p"
    assert tree_patch.apply(outer / "in", patch) is None
    assert (outer / "in" / "a").read_text() == "2\n"


def test_an_empty_patch_changes_nothing(tmp_path: Path) -> None:
    inner = plant(tmp_path / "x", {"a": "1\n"})
    assert tree_patch.apply(inner, plant(tmp_path, {"p": ""}) / "p") is None


NAMES = st.sampled_from(
    ["a.py", "src", "src/b.py", "src/deep", "src/deep/c.txt", "new", "new/x", "new/x/y", "link", "z\udcff"]
)
KNOWN = st.sampled_from([b"one\ntwo\n", b"", b"\n", b"\0\1", b"b\n" * 300, b"b\r\n" * 30])
CONTENT = st.one_of(st.binary(max_size=40), KNOWN)
EDIT = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENT),
    st.tuples(st.just("remove"), NAMES, st.just(b"")),
    st.tuples(st.just("link"), NAMES, st.sampled_from([b"a.py", b"../x", b"/etc", b"src/deep"])),
    st.tuples(st.just("chmod"), NAMES, st.just(b"")),
)
COUNT = itertools.count()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(EDIT, min_size=1, max_size=8))
def test_random_edits_survive_the_patch(attempt: Attempted, edits: list[tuple[str, str, bytes]]) -> None:
    shutil.rmtree(attempt.repo)
    copy_tree(attempt.template.tree, attempt.repo)
    for kind, name, content in edits:
        edit(attempt.repo / name, kind, content)
    change = attempt.change()
    if change.patch_sha256 == "empty":
        assert tree_of(attempt.repo) == tree_of(attempt.task.repo)
    else:
        assert change.diff is not None
        fresh = applied(attempt, change.diff)
        assert tree_of(fresh) == tree_of(attempt.repo)
        shutil.rmtree(fresh)


def edit(place: Path, kind: str, content: bytes) -> None:
    """Do what can be done at a place; a file where a folder is needed gives way."""
    for above in reversed(place.parents):
        if above.is_symlink() or above.is_file():
            above.unlink()
    if kind == "chmod":
        if place.is_file() and not place.is_symlink():
            place.chmod(place.stat().st_mode ^ 0o100)
        return
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    elif os.path.lexists(place):
        place.unlink()
    if kind != "remove":
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "write":
            place.write_bytes(content)
        else:
            os.symlink(content, os.fsencode(place))
