"""Small real studies, and the command line started as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIME_LIMIT_S = 90


@dataclass
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str
    ledger: Path

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.ledger.read_bytes().splitlines()]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["kind"] == kind]

    @property
    def attempts(self) -> list[dict[str, Any]]:
        return self.of_kind("attempt")

    def events(self, name: str) -> list[dict[str, Any]]:
        return [row for row in self.of_kind("event") if row["event"] == name]

    def log(self, attempt: Mapping[str, Any], name: str) -> bytes:
        return (self.ledger.with_suffix("") / attempt["files"][name]["path"]).read_bytes()


@dataclass
class Bench:
    """A study under construction in `folder`, and the command line that runs it."""

    folder: Path
    variables: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def task(
        self, name: str, *, verify: str | list[str], repo: Mapping[str, str | bytes] | None = None,
        prompt: str = "fix it\n", oracle: Mapping[str, str] | None = None, reference: str | None = None, **more: Any,
    ) -> Path:  # fmt: skip
        """A task folder; the oracle is never empty, so that verify runs beside one."""
        root = self.folder / "tasks" / name.replace("/", "_").replace(":", "_")
        write(root / "repo" / "readme.txt", "a task\n")
        for path, content in (repo or {}).items():
            write(root / "repo" / path, content)
        for path, content in (oracle or {"note.txt": "hidden\n"}).items():
            write(root / "oracle" / path, content)
        write(root / "prompt.md", prompt)
        if reference is not None:
            write(root / "reference.patch", reference)
        write(root / "task.yaml", yaml_of({"id": name, "verify": verify, **more}))
        return root

    def environments(self, *rows: Mapping[str, Any]) -> None:
        columns = ["name", "base_url", "workspace", "reset", "timeout_s"]
        columns += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in columns]
        fixed = {"workspace": "auto", "reset": "wipe", "timeout_s": "60"}
        lines = ["\t".join(str({**fixed, **row}.get(column, "")) for column in columns) for row in rows]
        write(self.folder / "envs.tsv", "\n".join(["\t".join(columns), *lines]) + "\n")

    def agents(self, *agents: Mapping[str, Any]) -> None:
        write(self.folder / "agents.yaml", yaml_of(list(agents)))
        self.settings["agents"] = "agents.yaml"

    def save(self, **settings: Any) -> None:
        if not (self.folder / "envs.tsv").exists():
            self.environments({"name": "a"}, {"name": "b"})
        base = {"study": "small", "tasks": "tasks/", "environments": "envs.tsv", "attempts": 1, "verify_replays": 0}
        write(self.folder / "bench.yaml", yaml_of({**base, "jobs": 2, **self.settings, **settings}))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "tui_bench", *words]

    def cli(self, *words: str, check: Sequence[int] | None = None, ledger: Path | None = None, **more: Any) -> Ran:
        """Any command, to its end."""
        done = subprocess.run(
            self.command(*words), cwd=self.folder, env=self.variables, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=TIME_LIMIT_S, check=False, **more,
        )  # fmt: skip
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"), ledger or Path())
        assert "Traceback" not in ran.err, ran.err
        assert check is None or ran.code in check, f"exit {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def next_ledger(self) -> Path:
        self.count += 1
        return self.folder.parent / f"run{self.count}.jsonl"

    def run(self, *words: str, check: Sequence[int] | None = None) -> Ran:
        """`run` of the saved study into a new ledger."""
        ledger = self.next_ledger()
        return self.cli("run", str(self.folder), "--out", str(ledger), *words, check=check, ledger=ledger)

    def start(self, *words: str) -> tuple[subprocess.Popen[bytes], Path]:
        """`run` in the background, in a session of its own."""
        ledger = self.next_ledger()
        process = subprocess.Popen(
            self.command("run", str(self.folder), "--out", str(ledger), *words), cwd=self.folder, env=self.variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        return process, ledger


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def yaml_of(value: Any) -> str:
    """JSON is YAML, but for what only one of them can say; no test needs that."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
