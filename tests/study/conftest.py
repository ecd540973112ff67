"""A folder in which studies are written the way a person writes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tui_bench.errors import StudyError
from tui_bench.study.load import load_study
from tui_bench.study.model import Study

BENCH = "study: flip12\ntasks: tasks/\nenvironments: envs.tsv\n"
ENVS = "name\tbase_url\tworkspace\treset\ttimeout_s\nlocal\t\tauto\twipe\t120\nother\t\t\twipe\t120\n"


@dataclass
class Desk:
    """Writes files below one folder and loads what stands there."""

    root: Path

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def task(self, name: str, **files: str | bytes) -> Path:
        """A bare task; `files` replace or add parts, `__` in a name standing for `/`, `_dot_` for `.`."""
        parts: dict[str, str | bytes] = {"prompt_dot_md": "Mend it.\n", "repo__run_tests_dot_sh": "exit 0\n"}
        for part, content in (parts | files).items():
            self.write(f"tasks/{name}/{part.replace('__', '/').replace('_dot_', '.')}", content)
        return self.root / "tasks" / name

    def study(self, **files: str | bytes) -> Path:
        """bench.yaml, envs.tsv and one task; `files` as for `task`."""
        self.task("t01")
        parts: dict[str, str | bytes] = {"bench_dot_yaml": BENCH, "envs_dot_tsv": ENVS}
        for part, content in (parts | files).items():
            self.write(part.replace("__", "/").replace("_dot_", "."), content)
        return self.root

    def load(self, agent_cmd: str | None = None) -> Study:
        return load_study(self.root, agent_cmd=agent_cmd)

    def problems(self) -> list[str]:
        """What the load says, a line each; fails where it says nothing."""
        with pytest.raises(StudyError) as caught:
            self.load()
        lines = str(caught.value).split("\n")
        assert len(lines) == len(caught.value.problems)
        return lines

    def problem(self) -> str:
        lines = self.problems()
        assert len(lines) == 1, lines
        return lines[0]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "bench"
    root.mkdir()
    return Desk(root)
