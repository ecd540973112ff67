"""Copies of sample tasks, and their commands run directly: no engine in between.

A place has the layout of an attempt, `<16 hex>/{repo, home, tmp}`, and a clean environment.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tui_bench.study.model import Task

SAMPLE = Path(__file__).parents[2] / "sample_config"
TIME_LIMIT_S = 30
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/"}


@dataclass(frozen=True)
class Place:
    """A fresh copy of a task's repo, in which commands run with a given set of variables."""

    task: Task
    root: Path

    @classmethod
    def of(cls, task: Task, parent: Path, name: str = "0123456789abcdef") -> Place:
        place = cls(task, parent / name)
        shutil.copytree(task.repo, place.repo)
        for folder in ("home", "tmp"):
            (place.root / folder).mkdir()
        return place

    @property
    def repo(self) -> Path:
        return self.root / "repo"

    def files(self) -> dict[str, bytes]:
        """Everything below the place, the agent's home aside, by path."""
        return contents(self.repo) | {f"tmp/{name}": data for name, data in contents(self.root / "tmp").items()}

    def run(
        self, argv: list[str], zone: dict[str, str], timeout: float = TIME_LIMIT_S, **more: str
    ) -> subprocess.CompletedProcess[str]:
        variables = {
            "PATH": os.pathsep.join((f"{sys.base_prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin")),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
        }
        with subprocess.Popen(
            argv, cwd=self.repo, env={**variables, **more, **zone}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def verify(self, zone: dict[str, str], timeout: float = TIME_LIMIT_S) -> subprocess.CompletedProcess[str]:
        """The task's own test, as task.yaml writes it."""
        folders = {"REPO_DIR": str(self.repo), "ORACLE_DIR": str(self.task.oracle or self.repo)}
        if isinstance(self.task.verify, str):
            argv = ["sh", "-c", self.task.verify]
        else:
            argv = [re.sub(r"\$(\w+)", lambda found: folders[found[1]], word) for word in self.task.verify]
        return self.run(argv, zone, timeout, **folders)

    def agent(self, program: Path, zone: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """A scripted agent, which gets the prompt and this folder and nothing else."""
        prompt = self.root / "prompt.md"
        assert self.task.prompt is not None
        shutil.copy(self.task.prompt, prompt)
        done = self.run(["python3", str(program)], zone, PROMPT_FILE=str(prompt))
        assert done.returncode == 0, done.stderr
        return done

    def apply_reference(self) -> None:
        assert self.task.reference is not None
        done = self.run(["git", "apply", str(self.task.reference)], {}, **GIT)
        assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    """Bytes of all files by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
