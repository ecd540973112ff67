"""Copies hold what the source holds, as it was listed, and share nothing with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from treebench import plant, tree_of

from tui_bench.engine.copier import READ_WHOLE, copy_tree, list_tree
from tui_bench.study.digest import manifest


def test_a_copy_equals_its_source_with_modes_links_and_raw_names(tmp_path: Path) -> None:
    source = plant(
        tmp_path / "a",
        {"x.sh": "#!/bin/sh\n", "d/e/f.txt": "1", "na\udcffme": "2", "new\nline": "", "link": "->d/e",
         "gone": "->/nowhere", "big": os.urandom(READ_WHOLE + 7)},
    )  # fmt: skip
    (source / "x.sh").chmod(0o750)
    (source / "d" / "e" / "f.txt").chmod(0o444)
    (source / "empty").mkdir()
    (source / "d").chmod(0o555)
    before = os.umask(0o077)
    try:
        copy_tree(list_tree(source), tmp_path / "b")
    finally:
        os.umask(before)
    assert manifest(tmp_path / "b").digest(every_mode_bit=True) == manifest(source).digest(every_mode_bit=True)
    assert (tmp_path / "b" / "link").is_symlink()


def test_a_copy_is_independent_of_the_source_and_of_hard_links(tmp_path: Path) -> None:
    source = plant(tmp_path / "a", {"one": "same"})
    os.link(source / "one", source / "two")
    copy_tree(list_tree(source), tmp_path / "b")
    (tmp_path / "b" / "one").write_text("changed")
    assert (tmp_path / "b" / "two").read_text() == "same"
    assert (source / "one").read_text() == "same"


def test_pipes_and_devices_are_skipped_and_named(tmp_path: Path) -> None:
    source = plant(tmp_path / "a", {"x": "1"})
    os.mkfifo(source / "pipe")
    listing = list_tree(source)
    copy_tree(listing, tmp_path / "b")
    assert listing.skipped == ((b"pipe", "fifo"),)
    assert os.listdir(tmp_path / "b") == ["x"]


def test_links_out_of_the_tree_are_never_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"secret/key": "do not copy"})
    source = plant(tmp_path / "a", {"folder": "->../secret", "file": "->../secret/key"})
    copy_tree(list_tree(source), tmp_path / "b")
    links = {b"folder": ("link", b"../secret", False), b"file": ("link", b"../secret/key", False)}
    assert tree_of(tmp_path / "b") == links


def test_a_file_that_changed_after_the_listing_is_noticed_even_with_size_and_time_restored(tmp_path: Path) -> None:
    source = plant(tmp_path / "a", {"x": "good"})
    listing = list_tree(source)
    times = (source / "x").stat()
    (source / "x").write_text("evil")
    os.utime(source / "x", ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(OSError, match="changed after"):
        copy_tree(listing, tmp_path / "b")


def test_a_file_swapped_for_a_link_is_not_read(tmp_path: Path) -> None:
    plant(tmp_path, {"secret": "do not copy"})
    source = plant(tmp_path / "a", {"x": "good"})
    listing = list_tree(source)
    (source / "x").unlink()
    (source / "x").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError):
        copy_tree(listing, tmp_path / "b")
    assert tree_of(tmp_path / "b") == {}


def test_an_existing_file_is_never_written_over(tmp_path: Path) -> None:
    source = plant(tmp_path / "a", {"x": "new"})
    target = plant(tmp_path / "b", {"x": "old"})
    with pytest.raises(FileExistsError):
        copy_tree(list_tree(source), target)
    assert (target / "x").read_text() == "old"
