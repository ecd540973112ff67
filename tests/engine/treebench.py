"""A task, a claimed root and an open run, for tests of the file tree."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tui_bench.engine.guard import claim_root
from tui_bench.engine.patch import Change, collect
from tui_bench.engine.template import Template, build_template
from tui_bench.engine.verify_tree import Taken, build
from tui_bench.engine.workspace import AttemptFolders, RunRoot, VerifyFolders
from tui_bench.study.model import Controls, Task

IDS = (f"{number:016x}" for number in itertools.count(1))


def plant(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files with parents; a text that begins with `->` is a link, names may hold surrogates for raw bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            os.symlink(content[2:], place)
        else:
            place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def make_task(
    folder: Path, repo: Mapping[str, str | bytes], oracle: Mapping[str, str] | None = None, **more: Any
) -> Task:
    plant(folder / "repo", repo)
    hidden = plant(folder / "oracle", oracle) if oracle is not None else None
    return Task("t", folder, folder / "repo", None, hidden, None, ("sh", "run.sh"), 10.0, **more)


@contextmanager
def open_run(folder: Path, run_id: str = "r1") -> Iterator[RunRoot]:
    run = RunRoot.open(claim_root(folder / "work"), run_id)
    try:
        yield run
    finally:
        run.close()


class Attempted:
    """One attempt on a task: its workspace, then its change, then its verify tree."""

    def __init__(self, run: RunRoot, task: Task, *, with_git: bool = True) -> None:
        self.task = task
        self.template: Template = build_template(task, run, with_git=with_git)
        self.folders = AttemptFolders(run, next(IDS))
        self.folders.create_workspace(self.template, with_git=with_git, prompt=None)
        self.repo = self.folders.repo
        self.out = run.path / f"out-{next(IDS)}"
        self.out.mkdir()
        self._verifies = itertools.count()

    def sh(self, script: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        alias = f'git() {{ command git {" ".join(identity)} "$@"; }}\n'
        subprocess.run(["sh", "-ec", alias + script], cwd=self.repo, check=True, capture_output=True)

    def change(self, **more: Any) -> Change:
        return collect(self.repo, self.template.base, self.out, **more)

    def verify(self, controls: Controls | None = None) -> tuple[VerifyFolders, Taken]:
        place = self.folders.verify(next(self._verifies))
        return place, build(place, self.task, self.template, self.change(), controls)


def tree_of(folder: Path) -> dict[bytes, tuple[str, bytes, bool]]:
    """Path -> kind, content or target, executable; files and links only, without `.git`."""
    found: dict[bytes, tuple[str, bytes, bool]] = {}
    root = os.fsencode(folder)
    for here, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != b".git"]
        names = [name for name in names if name != b".git"]
        for name in [*names, *(one for one in folders if os.path.islink(os.path.join(here, one)))]:
            path = os.path.join(here, name)
            shown = os.path.relpath(path, root)
            if os.path.islink(path):
                found[shown] = ("link", os.readlink(path), False)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[shown] = ("file", file.read(), bool(os.stat(path).st_mode & 0o100))
    return found
