"""What an agent finds: the task's source and one commit of it, and nothing else of anybody."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from treebench import Attempted, make_task, open_run, plant, tree_of

from tui_bench.engine.template import build_template
from tui_bench.errors import EnvironmentUnavailable, WorkspaceError

SOURCE = {"a.py": "print(1)\n", "bin/run": "#!/bin/sh\n", "na\udcffme.txt": "x", 'q"\\\n.txt': "y", "link": "->a.py",
          ".gitignore": "*.log\n", "kept.log": "tracked all the same", "doc/empty.md": ""}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=u", "-c", "user.email=u@u", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, check=True)
    return os.fsdecode(done.stdout)


def make_history(repo: Path) -> str:
    """A repository whose later commit, tag, stash and remote hold the answer; the id of the first commit."""
    git(repo, "init", "-q")
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-qm", "base")
    base = git(repo, "rev-parse", "HEAD").strip()
    (repo / "answer.txt").write_text("42")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "fix")
    git(repo, "tag", "solution")
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    (repo / "a.py").write_text("stashed")
    git(repo, "stash")
    return base


def test_d21_b31_the_workspace_has_one_commit_and_no_way_to_later_ones(tmp_path: Path) -> None:
    task = make_task(tmp_path / "task", SOURCE)
    base = make_history(task.repo)
    task = make_task(tmp_path / "task2", {}, base_commit=base)
    shutil.copytree(tmp_path / "task" / "repo", task.repo, dirs_exist_ok=True, symlinks=True)
    with open_run(tmp_path) as run:
        repo = Attempted(run, task).repo
        assert git(repo, "rev-list", "--all", "--count").strip() == "1"
        assert git(repo, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
        assert git(repo, "remote") + git(repo, "stash", "list") + git(repo, "reflog") == ""
        assert git(repo, "status", "--porcelain", "--ignored") == ""
        objects = git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
        reachable = git(repo, "rev-list", "--objects", "--no-object-names", "--all").split()
        assert set(objects) == set(reachable)
        assert not (repo / "answer.txt").exists()
        with pytest.raises(subprocess.CalledProcessError):
            git(repo, "cat-file", "-e", base)


def test_d21_the_same_source_gives_the_same_commit_twice(tmp_path: Path) -> None:
    ids = set()
    for number in range(2):
        task = make_task(tmp_path / f"task{number}", SOURCE)
        (task.repo / "bin" / "run").chmod(0o755)
        with open_run(tmp_path / f"{number}") as run:
            repository = build_template(task, run, with_git=True).base.repository
            assert repository is not None
            ids.add(repository.commit)
    assert len(ids) == 1


def test_the_workspace_equals_the_source_and_git_agrees(tmp_path: Path) -> None:
    task = make_task(tmp_path / "task", SOURCE)
    (task.repo / "bin" / "run").chmod(0o755)
    with open_run(tmp_path) as run:
        repo = Attempted(run, task).repo
        assert tree_of(repo) == tree_of(task.repo)
        assert git(repo, "status", "--porcelain", "--ignored") == ""
        assert len(git(repo, "ls-files", "-z").split("\0")) - 1 == len(SOURCE)


def test_b27_a_task_inside_another_checkout_never_consults_the_outer_one(tmp_path: Path) -> None:
    outer = plant(tmp_path / "outer", {"outer.txt": "private", "secret.key": "k"})
    git(outer, "init", "-q")
    git(outer, "add", "-A")
    git(outer, "commit", "-qm", "outer")
    task = make_task(outer / "tasks" / "t", SOURCE, base_commit="0123456789")
    with open_run(tmp_path) as run:
        attempt = Attempted(run, task)
        (attempt.repo / "new.txt").write_text("n")
        change = attempt.change()
        assert [one.path for one in change.paths] == [b"new.txt"]
        assert change.diff is not None
        assert b"outer" not in change.diff.read_bytes()
        assert git(outer, "status", "--porcelain") == "?? tasks/\n"


def test_the_users_git_settings_have_no_part_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = tmp_path / "canary"
    program = f"#!/bin/sh\ntouch {canary}\n"
    hook = plant(tmp_path / "hooks", {"post-commit": program, "reference-transaction": program})
    for name in os.listdir(hook):
        (hook / name).chmod(0o755)
    home = plant(
        tmp_path / "home",
        {
            ".gitconfig": f"[core]\n\thooksPath = {hook}\n\tautocrlf = true\n\tfsmonitor = touch {canary}\n"
            f"[init]\n\tdefaultBranch = odd\n\ttemplateDir = {hook.parent}\n[user]\n\tname = Somebody\n"
            f'[filter "f"]\n\tclean = touch {canary}\n[commit]\n\tgpgSign = true\n',
            ".config/git/attributes": "* filter=f\n",
        },
    )
    task = make_task(tmp_path / "task", SOURCE)
    with open_run(tmp_path / "plain") as run:
        repository = build_template(task, run, with_git=True).base.repository
        assert repository is not None
        expected = repository.commit
    for name, value in {"HOME": str(home), "GIT_DIR": "/nowhere", "GIT_AUTHOR_NAME": "Else", "GIT_CONFIG_COUNT": "1",
                        "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "junk"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with open_run(tmp_path / "poisoned") as run:
        repository = build_template(task, run, with_git=True).base.repository
        assert repository is not None
        assert repository.commit == expected
    assert not canary.exists()


def test_git_missing_is_said_at_the_start_and_only_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    task = make_task(tmp_path / "task", SOURCE, {"t.sh": "exit 0"})
    with open_run(tmp_path) as run:
        with pytest.raises(EnvironmentUnavailable, match="install git"):
            build_template(task, run, with_git=True)
        attempt = Attempted(run, task, with_git=False)
        (attempt.repo / "a.py").write_text("2")
        assert attempt.change().diff is None
        assert len(attempt.change().patch_sha256 or "") == 64
        place, _ = attempt.verify()
        assert (place.repo / "a.py").read_text() == "2"


def test_histories_and_caches_of_the_source_are_left_out_at_any_depth(tmp_path: Path) -> None:
    files = {**SOURCE, "sub/.git/HEAD": "ref", "mod/.git": "gitdir: elsewhere", "p/__pycache__/x.pyc": "x"}
    task = make_task(tmp_path / "task", files, {"t.py": "", "__pycache__/t.pyc": "evil"})
    with open_run(tmp_path) as run:
        template = build_template(task, run, with_git=True)
        paths = {file.path for file in template.tree.files}
        assert not any(b".git/" in path or path.endswith((b"/.git", b".pyc")) for path in paths)
        assert template.oracle is not None
        assert [file.path for file in template.oracle.files] == [b"t.py"]


def test_a_base_commit_is_found_through_a_worktrees_git_file(tmp_path: Path) -> None:
    main = plant(tmp_path / "main", {"a": "first"})
    git(main, "init", "-q")
    git(main, "add", "-A")
    git(main, "commit", "-qm", "1")
    base = git(main, "rev-parse", "HEAD").strip()
    (main / "a").write_text("second")
    git(main, "commit", "-qam", "2")
    (tmp_path / "task").mkdir()
    git(main, "worktree", "add", "-q", str(tmp_path / "task" / "repo"))
    task = make_task(tmp_path / "task", {}, base_commit=base[:10])
    with open_run(tmp_path) as run:
        assert (Attempted(run, task).repo / "a").read_text() == "first"


@pytest.mark.parametrize("commit", ["HEAD", "0" * 40, "--output=x"])
def test_a_base_commit_that_is_not_there_is_refused(tmp_path: Path, commit: str) -> None:
    task = make_task(tmp_path / "task", SOURCE, base_commit=commit)
    git(task.repo, "init", "-q")
    with open_run(tmp_path) as run, pytest.raises(WorkspaceError, match="base_commit") as refused:
        build_template(task, run, with_git=True)
    assert "\n" not in str(refused.value)


def test_an_empty_source_is_a_source(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        attempt = Attempted(run, make_task(tmp_path / "task", {}))
        (attempt.repo / "x").write_text("1")
        assert [one.what for one in attempt.change().paths] == ["added"]
