"""Which folders may hold workspaces: SAFETY 3b, rule by rule, and over ten thousand generated paths."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import pytest
from treebench import plant

from tui_bench.engine.guard import check_workspace_root, claim_root, home_folders
from tui_bench.engine.workspace import claim_run_root, default_workspace
from tui_bench.errors import WorkspaceError
from tui_bench.study.digest import manifest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with work in it, tasks, a ledger folder and links."""
    folder = plant(
        tmp_path / "people" / "ann",
        {
            "thesis.txt": "years of work", "bench/tasks/t1/repo/a.py": "x", "bench/runs/r.jsonl": "",
            "code/.git/HEAD": "x",
            "link_home": "->.", "link_other": "->code", "file": "x", "photos/1.jpg": "x",
        },
    )  # fmt: skip
    (folder / "empty").mkdir()
    (folder / "shared").mkdir()
    (folder / "shared").chmod(0o777)
    (folder / "group").mkdir()
    (folder / "group").chmod(0o775)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder / "code")
    return folder


def forbidden(home: Path) -> list[Path]:
    return [home / "bench" / "tasks", home / "bench", home / "bench" / "runs", Path.cwd()]


REFUSED = [
    "/", "//", "/.", "~", "~/", "$HOME", ".", "..", "", " ", "a/b", "~/../ann/empty", "~/x\0y",
    "~nobody-of-this-name/w",
    "~/bench", "~/bench/tasks", "~/bench/tasks/deeper", "~/bench/runs", "~/code", "~/code/below", "~/link_home",
    "~/link_home/w", "~/link_other/w", "~/file", "~/file/w", "~/shared", "~/shared/w", "~/group", "/tmp", "/etc",
    "/usr",
    "/proc/self", "/dev/shm", "/home", "/root", "~/..", "HOME", "PARENT",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_d10_dangerous_workspaces_are_refused_in_one_line_and_nothing_is_touched(home: Path, text: str) -> None:
    before = manifest(home).digest(every_mode_bit=True)
    path = {"HOME": str(home), "PARENT": str(home.parent)}.get(text, text)
    with pytest.raises(WorkspaceError) as refused:
        claim_run_root(path, "r1", forbidden=forbidden(home))
    assert "\n" not in str(refused.value)
    assert "choose an empty folder" in str(refused.value)
    assert manifest(home).digest(every_mode_bit=True) == before


@pytest.mark.parametrize("text", ["~/empty", "~/new", "~/new/deep/er", "~/.cache/tui_bench/work"])
def test_an_empty_or_new_folder_is_accepted(home: Path, text: str) -> None:
    root = claim_root(check_workspace_root(text, forbidden=forbidden(home)))
    assert str(root.path) == text.replace("~", str(home))
    assert (root.path / ".tui_bench-root").is_file()


def test_a_run_started_in_the_home_folder_may_use_a_folder_below_it(home: Path) -> None:
    assert check_workspace_root("~/.cache/w", forbidden=[home, Path("/")]) == home / ".cache" / "w"
    with pytest.raises(WorkspaceError, match="is a home folder"):
        check_workspace_root(home, forbidden=[home])


def test_the_default_workspace_is_accepted_where_the_home_lies_behind_a_link(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alias = home.parent.parent / "alias"
    alias.symlink_to(home.parent)
    monkeypatch.setenv("HOME", str(alias / "ann"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert check_workspace_root(default_workspace(), forbidden=[]) == home / ".cache" / "tui_bench" / "work"


def test_a_mount_point_is_refused() -> None:
    mount = "/dev/shm"
    if not os.path.ismount(mount):
        pytest.skip("no /dev/shm mount here")
    with pytest.raises(WorkspaceError):
        check_workspace_root(mount, forbidden=[])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder away")
def test_a_folder_of_another_user_is_refused(home: Path) -> None:
    os.chown(home / "empty", 65534, 65534)
    with pytest.raises(WorkspaceError, match="another user"):
        check_workspace_root(home / "empty", forbidden=[])


def test_a_folder_that_holds_something_is_not_claimed(home: Path) -> None:
    with pytest.raises(WorkspaceError, match="not empty"):
        claim_root(check_workspace_root("~/photos", forbidden=forbidden(home)))
    assert sorted(os.listdir(home / "photos")) == ["1.jpg"]


def test_a_claimed_root_keeps_its_id_and_may_be_shared(home: Path) -> None:
    first = claim_root(home / "empty")
    (home / "empty" / "run-x").mkdir()
    assert claim_root(home / "empty") == first


@pytest.mark.parametrize("damage", ["text", "link", "folder"])
def test_a_forged_marker_is_no_claim(home: Path, damage: str) -> None:
    marker = home / "photos" / ".tui_bench-root"
    if damage == "text":
        marker.write_text("tui_bench workspace root\nid 12\n")
    elif damage == "link":
        claim_root(home / "empty")
        marker.symlink_to(home / "empty" / ".tui_bench-root")
    else:
        marker.mkdir()
    with pytest.raises(WorkspaceError):
        claim_root(home / "photos")


def test_ten_thousand_generated_paths_are_accepted_only_by_the_rules(home: Path) -> None:
    words = [
        "~", str(home), str(home.parent), "", ".", "..", "bench", "tasks", "t1", "runs", "code", "link_home", "file",
        "link_other", "empty", "shared", "group", "new", "photos", "x\0", "/", "tmp", "etc", "a b", "ü", "\udcff",
    ]  # fmt: skip
    chance = random.Random(20261129)
    bars = forbidden(home)
    before = manifest(home).digest(every_mode_bit=True)
    accepted = 0
    for _ in range(10_000):
        text = chance.choice(["", "/", "~/", str(home) + "/"]) + "/".join(chance.choices(words, k=chance.randint(0, 5)))
        try:
            root = check_workspace_root(text, forbidden=bars)
        except WorkspaceError as error:
            assert "\n" not in str(error)
            continue
        accepted += 1
        assert_allowed(root, text, bars)
    assert accepted > 100
    assert manifest(home).digest(every_mode_bit=True) == before


def assert_allowed(root: Path, text: str, bars: list[Path]) -> None:
    expanded = os.path.expanduser(text)
    assert expanded.startswith("/")
    assert ".." not in expanded.split("/")
    assert os.path.realpath(root) == str(root) == os.path.realpath(expanded)
    assert len(root.parts) >= 3
    assert not any(f"{one}/".startswith(f"{root}/") for one in home_folders())
    assert not any(root == bar or root in bar.parents or bar in root.parents for bar in bars)
    if root.exists():
        assert root.is_dir()
        assert not os.path.ismount(root)
        assert root.stat().st_uid == os.geteuid()
        assert not root.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
