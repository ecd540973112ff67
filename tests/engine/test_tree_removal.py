"""The tool removes what it made, whatever is in it, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from treebench import IDS, open_run, plant

from tui_bench.engine.guard import claim_root
from tui_bench.engine.removal import remove
from tui_bench.engine.workspace import AttemptFolders, RunRoot
from tui_bench.errors import WorkspaceError
from tui_bench.study.digest import manifest


def deep_folder(top: Path, depth: int) -> None:
    """A chain of folders, too deep for any path or recursion."""
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder whose speed says something about the code: some disks take seconds for 5,000 files."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)


def test_d14_odd_trees_are_removed_in_seconds(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(memory) as run:
        folders = AttemptFolders(run, next(IDS))
        deep_folder(folders.path / "deep", 1_500)
        os.mkfifo(folders.path / "pipe")
        monkeypatch.chdir(folders.path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("sock")
        monkeypatch.chdir(memory)
        for number in range(5_000):
            (folders.path / f"f{number}").touch()
        plant(folders.path, {"na\udcff\udcfeme/x": "1", "locked/inner/y": "1", "new\nline": "1"})
        (folders.path / "locked" / "inner").chmod(0)
        (folders.path / "locked").chmod(0)
        begun = time.monotonic()
        manifest(folders.path)
        folders.dispose()
        assert not folders.path.exists()
        run.close()
        assert time.monotonic() - begun < 5
        assert run.failures == []
    assert sorted(os.listdir(memory / "work")) == [".lock", ".tui_bench-root"]


def test_d09_links_to_a_canary_are_removed_and_the_canary_is_not(tmp_path: Path) -> None:
    canary = plant(tmp_path / "canary", {"keep.txt": "precious", "sub/also.txt": "x"})
    before = manifest(canary).digest(every_mode_bit=True)
    with open_run(tmp_path) as run:
        folders = AttemptFolders(run, next(IDS))
        (folders.path / "link").symlink_to(canary)
        (folders.path / "file").symlink_to(canary / "keep.txt")
        os.link(canary / "keep.txt", folders.path / "hard")
        folders.dispose()
    assert manifest(canary).digest(every_mode_bit=True) == before


def test_an_attempt_folder_replaced_by_a_link_takes_nothing_with_it(tmp_path: Path) -> None:
    canary = plant(tmp_path / "canary", {"keep.txt": "precious"})
    before = manifest(tmp_path / "canary").digest(every_mode_bit=True), canary.stat().st_mode
    with open_run(tmp_path) as run:
        folders = AttemptFolders(run, next(IDS))
        folders.path.rmdir()
        folders.path.symlink_to(canary)
        with pytest.raises(OSError, match="not the folder that was made"):
            folders.verify(0)
        folders.dispose()
        assert not os.path.lexists(folders.path)
    assert (manifest(canary).digest(every_mode_bit=True), canary.stat().st_mode) == before


@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_an_agent_puts_in_the_place_of_the_verify_folder_is_thrown_away(tmp_path: Path, kind: str) -> None:
    canary = plant(tmp_path / "canary", {"keep.txt": "precious"})
    with open_run(tmp_path) as run:
        folders = AttemptFolders(run, next(IDS))
        place = folders.path / "verify"
        if kind == "folder":
            plant(place, {"home/.profile": "evil", "repo/a": "evil"})
        elif kind == "link":
            place.symlink_to(canary)
        else:
            place.write_text("x")
        made = folders.verify(0)
        assert not made.repo.exists()
        assert os.listdir(made.home) == []
    assert os.listdir(canary) == ["keep.txt"]


def test_a_run_killed_while_it_closes_leaves_only_what_the_next_one_removes(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    with other_run(root.path, "dead") as dead:
        dead.kill()
        dead.communicate()
    (root.path / "run-dead").rename(root.path / ".trash-dead" / "0123456789abcdef")
    with open_run(tmp_path, "next"):
        pass
    assert sorted(os.listdir(root.path)) == [".lock", ".tui_bench-root"]


@pytest.mark.parametrize("path", ["outside", "work", "work/foreign", "work/run-x/../../outside", "work/.lock"])
def test_only_names_that_the_tool_gives_are_removed(tmp_path: Path, path: str) -> None:
    plant(tmp_path, {"outside/a": "x"})
    root = claim_root(tmp_path / "work")
    plant(root.path, {"foreign/a": "x", "run-x/a": "x", ".lock": ""})
    with pytest.raises(WorkspaceError):
        remove(root, tmp_path / path)
    assert (tmp_path / "outside" / "a").exists()
    assert (root.path / "foreign" / "a").exists()


def test_nothing_is_removed_once_the_marker_is_another(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    plant(root.path, {"run-x/a": "x"})
    marker = root.path / ".tui_bench-root"
    marker.unlink()
    with pytest.raises(WorkspaceError, match="not the one"):
        remove(root, root.path / "run-x")
    marker.write_text(f"tui_bench workspace root\nid {'0' * 32}\n")
    with pytest.raises(WorkspaceError, match="not the one"):
        remove(root, root.path / "run-x")
    assert (root.path / "run-x" / "a").exists()


def test_a_mounted_folder_is_left_and_named(tmp_path: Path) -> None:
    mount = shutil.which("mount")
    with open_run(tmp_path) as run:
        folders = AttemptFolders(run, next(IDS))
        plant(folders.path, {"a/x": "1"})
        place = folders.path / "m"
        place.mkdir()
        done = subprocess.run([mount or "false", "-t", "tmpfs", "none", str(place)], capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("cannot mount here")
        try:
            (place / "keep").write_text("x")
            with pytest.raises(WorkspaceError, match="something is mounted"):
                remove(run.root, folders.path)
            assert (place / "keep").exists()
            assert not (folders.path / "a").exists()
        finally:
            subprocess.run(["umount", str(place)], check=True)


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from tui_bench.engine.guard import claim_root
from tui_bench.engine.workspace import RunRoot, AttemptFolders
import encodings.ascii
os.setgroups([]); os.setgid(65534); os.setuid(65534)
root = claim_root(Path(sys.argv[1]) / "work")
run = RunRoot.open(root, "r")
folders = AttemptFolders(run, "0" * 16)
(folders.path / "a" / "b").mkdir(parents=True)
(folders.path / "a" / "b" / "f").write_text("x")
(folders.path / "a" / "b").chmod(0)
(folders.path / "a").chmod(0)
folders.path.chmod(0o555)
folders.dispose()
run.close()
assert run.failures == [], run.failures
print(sorted(os.listdir(root.path)))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="tried by root as another user; others meet it above")
def test_folders_without_permission_do_not_stop_an_ordinary_user() -> None:
    place = Path(f"/tmp/tree-{os.getpid()}")
    place.mkdir()
    try:
        os.chown(place, 65534, 65534)
        command = [sys.executable, "-c", UNPRIVILEGED, str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "['.lock', '.tui_bench-root']\n", done.stderr
    finally:
        shutil.rmtree(place)


RUNNER = """
import sys
from pathlib import Path
from tui_bench.engine.guard import claim_root
from tui_bench.engine.workspace import RunRoot, AttemptFolders
run = RunRoot.open(claim_root(Path(sys.argv[1])), sys.argv[2])
(AttemptFolders(run, "0" * 16).path / "left").write_text("x")
print("ready", flush=True)
sys.stdin.read()
"""


def other_run(root: Path, run_id: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(root), run_id], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_next_run_sweeps_what_a_killed_run_left_and_only_that(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    plant(root.path, {"notes.txt": "mine", "run-handmade/x": "mine", "other/x": "mine"})
    with other_run(root.path, "alive") as alive, other_run(root.path, "dead") as dead:
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        with open_run(tmp_path, "next"):
            assert not (root.path / "run-dead").exists()
            assert (root.path / "run-alive" / ("0" * 16) / "left").exists()
        alive.communicate("")
    assert sorted(os.listdir(root.path)) == [
        ".lock", ".trash-alive", ".tui_bench-root", "notes.txt", "other", "run-alive", "run-handmade",
    ]  # fmt: skip
    assert (root.path / "run-handmade" / "x").read_text() == "mine"


def test_a_live_runs_folder_is_refused_and_its_owner_named(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    with other_run(root.path, "r1") as owner:
        with pytest.raises(WorkspaceError, match=str(owner.pid)):
            RunRoot.open(root, "r1")
        with open_run(tmp_path, "r2") as second:
            assert second.path.is_dir()
        owner.kill()
        owner.communicate()
    with open_run(tmp_path, "r1") as resumed:
        assert sorted(os.listdir(resumed.path)) == [".lock", ".owner"]


def test_a_run_that_holds_its_lock_is_alive_whatever_process_its_owner_file_names(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    with other_run(root.path, "alive") as alive:
        owner = root.path / "run-alive" / ".owner"
        owner.write_text(json.dumps({**json.loads(owner.read_text()), "pid": 2**22 + 1, "start_time": 1}))
        with open_run(tmp_path, "next"):
            assert (root.path / "run-alive" / ("0" * 16) / "left").exists()
        alive.communicate("")


def test_a_folder_of_a_run_on_another_host_is_left(tmp_path: Path) -> None:
    root = claim_root(tmp_path / "work")
    owner = json.dumps({"root": root.id, "pid": 1, "host": "elsewhere"})
    plant(root.path, {"run-far/.lock": "", "run-far/.owner": owner})
    with open_run(tmp_path, "here"):
        pass
    assert (root.path / "run-far").is_dir()


def test_b30_a_new_attempt_never_sees_the_old_ones_files(tmp_path: Path) -> None:
    with open_run(tmp_path) as run:
        first = AttemptFolders(run, next(IDS))
        (first.path / "stale_ok.txt").touch()
        first.dispose()
        second = AttemptFolders(run, next(IDS))
        assert os.listdir(second.path) == []
        names = [path.name for path in run.path.iterdir()]
        assert first.path.name not in names
