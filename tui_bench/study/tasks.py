"""Task folders: a prompt, a source tree, the test that decides, and task.yaml for what differs from the usual.

    prompt.md  repo/  oracle/  reference.patch  task.yaml

Without `oracle/` the test is `repo/run_tests.sh`, which is then protected. A broken task does not load: every broken
task of a study is named at once, before the first attempt.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui_bench.study import harbor
from tui_bench.study.environments import NETWORK_CURES, NETWORKS
from tui_bench.study.model import Controls, Task
from tui_bench.study.names import fold, id_fault
from tui_bench.study.ranges import EXIT_CODES, FLOOR_RUNS, SECONDS, TESTS
from tui_bench.study.reading import Reading, regular_bytes, show
from tui_bench.study.schema import Fields, absolute, note_same_names
from tui_bench.study.strict_yaml import Entries, Scalar, read

KEYS = (
    "id", "verify", "verify_timeout", "fail_codes", "expect", "setup", "oracle_place", "language", "cluster",
    "base_commit", "floor_pass", "floor_n", "protected", "writable", "readable_paths", "network", "source",
)  # fmt: skip
VERIFY_TIMEOUT_S = 300.0
RUN_TESTS = "run_tests.sh"
PROMPT_LIMIT = 1024 * 1024
"""Bytes."""
_PLACES: tuple[Literal["beside", "overlay"], ...] = ("beside", "overlay")
_NOT_BUILT = {
    "source": "is not available in this version; put the tree in repo/",
    "setup": "is not available in this version; prepare the tree in repo/ beforehand",
}


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where the parts of a task lie, before task.yaml has its say."""

    prompt: Path
    repo: Path
    oracle: Path
    reference: Path
    verify: str | None = None
    verify_timeout: float = VERIFY_TIMEOUT_S


def read_tasks(folder: Path, reading: Reading, controls: Controls | None = None) -> tuple[Task, ...]:
    """All tasks below a folder, sorted by folder name; faults are noted. Hidden folders and files are no tasks."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError as error:
        reading.problem(folder, None, f"cannot be read as the folder of tasks: {error.strerror}")
        return ()
    folders = [folder / name for name in names if not name.startswith(".") and name != "__pycache__"]
    if os.path.isdir(folder / "repo"):
        reading.problem(folder, None, "is itself a task; give the folder that holds task folders")
        return ()
    if not folders:
        reading.problem(folder, None, "holds no task folders; a task is a folder with repo/ in it")
    found = [(task, place) for path in folders for task, place in _read_task(path, reading, controls)]
    note_same_names(reading, "task id", [(task.id, *place) for task, place in found], fold)
    return tuple(task for task, _ in found)


def load_task(folder: Path, controls: Controls | None = None) -> Task:
    """One task folder on its own. Raises StudyError with every fault of it."""
    reading = Reading()
    found = _read_task(absolute(str(folder), Path.cwd()), reading, controls)
    reading.finish()
    return found[0][0]


Place = tuple[Path, int | None]


def _read_task(folder: Path, reading: Reading, controls: Controls | None) -> Sequence[tuple[Task, Place]]:
    """The task with the place that gives it its id; empty where there is nothing to build one from."""
    file = folder / "task.yaml"
    node = read(file, reading) if os.path.lexists(file) else Entries({}, {}, 1)
    if isinstance(node, Scalar) and node.empty:
        node = Entries({}, {}, 1)
    if not isinstance(node, Entries):
        if node is not None:
            reading.problem(file, node.line, "task.yaml is a mapping such as 'verify: [bash, run_tests.sh]'")
        return ()
    fields = Fields(node, file, reading, KEYS)
    for key, message in _NOT_BUILT.items():
        if key in fields:
            fields.refuse(key, message)
    task = _Builder(folder, fields, _shape(folder, reading), reading, controls).task()
    return [(task, (file, fields.line("id")) if "id" in fields else (folder, None))]


def _shape(folder: Path, reading: Reading) -> _Shape:
    usual = _Shape(folder / "prompt.md", folder / "repo", folder / "oracle", folder / "reference.patch")
    if not harbor.is_task(folder):
        return usual
    seconds = harbor.verify_timeout(folder, reading)
    return _Shape(
        prompt=folder / "instruction.md",
        repo=usual.repo,
        oracle=folder / "tests",
        reference=usual.reference,
        verify=harbor.VERIFY,
        verify_timeout=seconds or VERIFY_TIMEOUT_S,
    )


class _Builder:
    """One task out of its folder, its shape and its task.yaml."""

    def __init__(
        self, folder: Path, fields: Fields, shape: _Shape, reading: Reading, controls: Controls | None
    ) -> None:
        self._folder = folder
        self._fields = fields
        self._shape = shape
        self._reading = reading
        self._controls = controls

    def task(self) -> Task:
        fields = self._fields
        oracle = self._oracle()
        verify = self._verify(oracle)
        protected = fields.globs("protected") or ()
        if oracle is None and RUN_TESTS not in protected and os.path.lexists(self._shape.repo / RUN_TESTS):
            protected = (RUN_TESTS, *protected)
        floor_pass, floor_n = self._floor()
        codes = fields.integers("fail_codes", EXIT_CODES)
        return Task(
            id=self._id(),
            folder=self._folder,
            repo=self._repo(),
            prompt=self._prompt(),
            oracle=oracle,
            reference=self._reference(),
            verify=verify,
            verify_timeout=fields.number("verify_timeout", SECONDS) or self._shape.verify_timeout,
            fail_codes=frozenset(codes) if codes else None,
            expect_tests=self._expected_tests(),
            oracle_place=self._place(oracle),
            language=fields.text("language"),
            cluster=fields.text("cluster"),
            base_commit=fields.text("base_commit"),
            floor_pass=floor_pass,
            floor_n=floor_n,
            protected=protected,
            writable=fields.globs("writable", some=True) or ("**",),
            readable_paths=fields.paths("readable_paths", self._folder),
            network=fields.choice("network", NETWORKS, NETWORK_CURES),
        )

    def _refuse(self, path: Path, message: str) -> None:
        self._reading.problem(path, None, message)

    def _id(self) -> str:
        given = self._fields.text("id")
        name = given if given is not None else self._folder.name
        fault = id_fault(name)
        if fault and given is not None:
            self._fields.refuse("id", f"{show(name)} {fault}")
        elif fault:
            self._refuse(self._folder, f"task id {show(name)} {fault}; rename the folder or give an id in task.yaml")
        return name

    def _repo(self) -> Path:
        repo = self._shape.repo
        if os.path.isdir(repo):
            if not _listable(repo):
                self._refuse(repo, "cannot be read; give yourself read permission")
        else:
            cure = harbor.NO_REPO if self._shape.verify else "put the source tree there"
            self._refuse(self._folder, f"has no folder repo/; {cure}")
        return repo

    def _prompt(self) -> Path | None:
        prompt = self._shape.prompt
        if not os.path.lexists(prompt):
            return None
        try:
            data = regular_bytes(prompt, PROMPT_LIMIT + 1)
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._refuse(prompt, f"is not UTF-8 (byte {error.start}); save it as UTF-8")
        except OSError as error:
            self._refuse(prompt, f"cannot be read: {error.strerror or error}")
        else:
            if len(data) > PROMPT_LIMIT or not data.strip():
                self._refuse(prompt, f"is empty or larger than {PROMPT_LIMIT} bytes; write what is to be done")
        return prompt

    def _oracle(self) -> Path | None:
        oracle = self._shape.oracle
        if not os.path.lexists(oracle):
            return None
        if not os.path.isdir(oracle):
            self._refuse(oracle, "is no folder; the hidden tests lie in a folder")
        elif not _listable(oracle):
            self._refuse(oracle, "cannot be read; give yourself read permission")
        elif not os.listdir(oracle):
            self._refuse(oracle, "is empty; put the hidden tests there or remove the folder")
        return oracle

    def _verify(self, oracle: Path | None) -> tuple[str, ...] | str:
        given = self._fields.command("verify")
        if given is not None:
            return given
        if "verify" in self._fields:
            return ""
        if self._shape.verify is not None and oracle is not None:
            return self._shape.verify
        if oracle is None and os.path.isfile(self._shape.repo / RUN_TESTS):
            return ("bash", RUN_TESTS)
        if oracle is not None and self._controls and self._controls.oracle_cmd:
            return beside_the_tree(self._controls.oracle_cmd)
        if oracle is None:
            self._refuse(self._folder, f"has no repo/{RUN_TESTS}, no oracle/ and no verify; write one of them")
        else:
            cure = "write the command into task.yaml, such as verify: [python3, $ORACLE_DIR/check.py]"
            self._refuse(self._folder, f"has oracle/ and no verify; {cure}")
        return ""

    def _reference(self) -> Path | None:
        reference = self._shape.reference
        if not os.path.lexists(reference):
            return None
        if not os.path.isfile(reference) or not os.access(reference, os.R_OK):
            self._refuse(reference, "is no readable file; a reference is a patch made by git diff")
        elif reference.stat().st_size == 0:
            self._refuse(reference, "is empty; a reference is a patch made by git diff")
        return reference

    def _place(self, oracle: Path | None) -> Literal["beside", "overlay"]:
        place = self._fields.choice("oracle_place", _PLACES)
        if place == "overlay" and oracle is None:
            self._fields.refuse("oracle_place", "overlay lays oracle/ over repo/, but there is no oracle/")
        return place or "beside"

    def _expected_tests(self) -> int | None:
        expect = self._fields.mapping("expect", ("tests",))
        return None if expect is None else expect.integer("tests", TESTS)

    def _floor(self) -> tuple[int | None, int | None]:
        passes = self._fields.integer("floor_pass", FLOOR_RUNS)
        runs = self._fields.integer("floor_n", FLOOR_RUNS)
        if passes is not None and passes > (runs or 0):
            self._fields.refuse("floor_pass", f"{passes} passes need at least as many runs in floor_n")
        return passes, runs


def _listable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def beside_the_tree(command: str) -> str:
    """controls' `oracle_cmd` speaks of `oracle/` from the task's folder: the one that holds repo/ and oracle/."""
    return f'cd "$ORACLE_DIR/.." || exit 127\n{command}'
