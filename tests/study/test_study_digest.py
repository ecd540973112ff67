"""Manifests: what counts as a difference between two trees, on trees as agents leave them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tui_bench.study.digest import ORACLE_IGNORE, REPO_IGNORE, Ignore, changes, file_sha256, manifest, task_digests
from tui_bench.study.tasks import load_task


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src" / "empty").mkdir(parents=True)
    (root / "a.txt").write_text("one")
    (root / "src" / "run.sh").write_text("exit 0")
    (root / "src" / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    return root


def whats(base: Path, final: Path) -> dict[str, str]:
    return {change.path.decode(): change.what for change in changes(manifest(base), manifest(final))}


def edit(root: Path) -> None:
    (root / "a.txt").write_text("two")


def add(root: Path) -> None:
    (root / "new").write_text("")


def add_empty_folder(root: Path) -> None:
    (root / "hollow").mkdir()


def delete(root: Path) -> None:
    (root / "src" / "empty").rmdir()


def rename(root: Path) -> None:
    (root / "a.txt").rename(root / "b.txt")


def chmod(root: Path) -> None:
    (root / "src" / "run.sh").chmod(0o644)


def retarget(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("src")


def link_to_file(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").write_text("one")


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (edit, {"a.txt": "content"}),
        (add, {"new": "added"}),
        (add_empty_folder, {"hollow": "added"}),
        (delete, {"src/empty": "removed"}),
        (rename, {"a.txt": "removed", "b.txt": "added"}),
        (chmod, {"src/run.sh": "mode"}),
        (retarget, {"link": "content"}),
        (link_to_file, {"link": "type"}),
    ],
)
def test_d15_every_kind_of_change_shows(tree: Path, tmp_path: Path, change, seen) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy, symlinks=True)
    assert manifest(copy).digest() == manifest(tree).digest()
    change(copy)
    assert manifest(copy).digest() != manifest(tree).digest()
    assert whats(tree, copy) == seen


def test_d15_times_do_not_count(tree: Path) -> None:
    before = manifest(tree).digest()
    for path in (tree / "a.txt", tree / "src"):
        os.utime(path, (1, 1))
    assert manifest(tree).digest() == before


def test_umask_counts_only_where_every_mode_bit_is_asked_for(tree: Path) -> None:
    before = manifest(tree)
    (tree / "a.txt").chmod(0o600)
    (tree / "src").chmod(0o700)
    after = manifest(tree)
    assert after.digest() == before.digest()
    assert changes(before, after) == ()
    assert after.digest(every_mode_bit=True) != before.digest(every_mode_bit=True)
    assert [change.path for change in changes(before, after, every_mode_bit=True)] == [b"a.txt", b"src"]


def test_content_moved_into_the_name_is_another_tree(tmp_path: Path) -> None:
    for root, name, content in (("one", "a", "bX"), ("two", "ab", "X")):
        (tmp_path / root).mkdir()
        (tmp_path / root / name).write_text(content)
    assert manifest(tmp_path / "one").digest() != manifest(tmp_path / "two").digest()


def test_d14_depth_raw_names_pipes_and_sockets_end_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "odd"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deep-folder-name", dir_fd=here)
        below = os.open("deep-folder-name", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.mkfifo("pipe", dir_fd=here)
    os.close(here)
    Path(os.fsdecode(os.fsencode(root) + b"/raw-\xff")).write_bytes(b"x")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        begin = time.monotonic()
        listed = manifest(root)
        assert time.monotonic() - begin < 5
    names = [entry.name for entry in listed]
    assert len(listed) == 1503
    assert "raw-\\xff" in names
    assert [entry.content for entry in listed if entry.kind == "o"] == [b"p", b"s"]
    subprocess.run(["rm", "-rf", str(root)], check=True)


def test_d14_closed_folders_and_files_are_named_as_unreadable(tree: Path) -> None:
    (tree / "a.txt").chmod(0)
    (tree / "src").chmod(0o600)
    if os.access(tree / "a.txt", os.R_OK):
        pytest.skip("this user may read every file")
    listed = manifest(tree)
    (tree / "src").chmod(0o700)
    assert [entry.path for entry in listed.unreadable] == [b"a.txt", b"src"]


def test_links_are_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(".")
    assert [(entry.path, entry.kind) for entry in manifest(root)] == [(b"loop", "l"), (b"out", "l")]


def test_long_files_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 700_001)
    (tmp_path / "one-less").write_bytes(b"x" * 700_000)
    long, less = manifest(tmp_path).entries
    said = subprocess.run(["sha256sum", str(tmp_path / "long")], capture_output=True, text=True, check=True)
    assert long.content.hex() == said.stdout.split()[0] == file_sha256(tmp_path / "long")
    assert long.content != less.content


def test_what_is_ignored(tree: Path) -> None:
    plain = manifest(tree).digest()
    for part in (".git/HEAD", "src/__pycache__/a.pyc", "src/sha256.txt"):
        (tree / part).parent.mkdir(exist_ok=True)
        (tree / part).write_text("x")
    names = {entry.name for entry in manifest(tree, REPO_IGNORE)}
    assert "src/sha256.txt" in names
    assert not names & {".git", ".git/HEAD", "src/__pycache__"}
    assert manifest(tree, Ignore(REPO_IGNORE.names, frozenset({b"src/sha256.txt"}))).digest() == plain


def test_b35_a_checksum_file_does_not_change_the_oracle_it_covers(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("assert True")
    before = manifest(tmp_path, ORACLE_IGNORE).digest()
    (tmp_path / "sha256.txt").write_text(before)
    (tmp_path / "__pycache__").mkdir()
    assert manifest(tmp_path, ORACLE_IGNORE).digest() == before
    (tmp_path / "test_it.py").write_text("assert 1")
    assert manifest(tmp_path, ORACLE_IGNORE).digest() != before


def test_the_digests_of_a_task_move_apart(desk) -> None:
    folder = desk.task("t", oracle__check_dot_sh="exit 0", task_dot_yaml="verify: [sh, $ORACLE_DIR/check.sh]\n")
    base = task_digests(load_task(folder))

    def moved() -> list[str]:
        now = task_digests(load_task(folder))
        return [name for name in base._fields if getattr(now, name) != getattr(base, name)]

    assert moved() == []
    desk.write("tasks/t/oracle/check.sh", "exit 1")
    assert moved() == ["oracle_sha"]
    desk.write("tasks/t/oracle/check.sh", "exit 0")
    desk.write("tasks/t/prompt.md", "Mend it well.\n")
    assert moved() == ["prompt_sha"]
    desk.write("tasks/t/prompt.md", "Mend it.\n")
    desk.write("tasks/t/repo/run_tests.sh", "exit 1\n")
    assert moved() == ["task_sha"]
    desk.write("tasks/t/repo/run_tests.sh", "exit 0\n")
    desk.write("tasks/t/task.yaml", "verify: [sh, $ORACLE_DIR/check.sh]\nfail_codes: [1]\n")
    assert moved() == ["task_sha"]
    desk.write("tasks/t/task.yaml", "verify: [sh, $ORACLE_DIR/check.sh]\nlanguage: shell\n")
    assert moved() == []
