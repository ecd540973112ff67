"""Whatever stands in study files, a load ends with a study or with problems of one line each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tui_bench.errors import StudyError, UsageError
from tui_bench.study.load import load_study
from tui_bench.study.names import id_fault
from tui_bench.study.reading import Reading
from tui_bench.study.strict_yaml import parse
from tui_bench.study.tables import read_table

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
KEYS = (
    "study", "tasks", "environments", "dimension", "agents", "controls", "subject", "attempts", "jobs", "order", "gate",
    "claim", "name", "kind", "command", "env", "env.TZ", "base_url", "timeout_s", "facts", "flip_rate", "seed", "id",
    "verify", "expect", "network", "workspace", "oracle_cmd", "pass_env", "login_files", "protected",
)  # fmt: skip
WORDS = (
    "tasks", "envs.tsv", "/", "~", "~x", "..", "010", "1e3", "0", "-5", "1/0", "1/10", "nan", "off", "true", "null", "",
    "'", '"', "&a", "*a", "!!str", "<<", "%YAML 9", "http://[", "http://h:x", "[a", "{a: b", "|", ">", "?", "- -",
    "\u202e", "\x1b", "\x85", "\u2028", "\\ud800", "é" * 300, "9" * 400, "command", "local", "timezone", "# c",
)  # fmt: skip
SCALARS = st.sampled_from(WORDS) | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items.items()) + "}"
        )
    ),
    max_leaves=6,
)
BENCHES = st.lists(st.tuples(st.sampled_from(KEYS) | SCALARS, VALUES), max_size=6).map(
    lambda lines: "study: s\n" + "".join(f"{key}: {value}\n" for key, value in lines)
)
CELLS = st.sampled_from((*WORDS, "name", "reset", "env.X", "wipe", "a", "b")) | st.text(max_size=6)
TABLES = st.lists(st.lists(CELLS, max_size=5).map("\t".join) | CELLS, max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "tasks" / "t01" / "repo").mkdir(parents=True)
    (folder / "tasks" / "t01" / "repo" / "run_tests.sh").write_text("exit 0\n")
    return folder


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def load_or_complain(folder: Path) -> None:
    try:
        load_study(folder)
    except (StudyError, UsageError) as error:
        problems = error.problems if isinstance(error, StudyError) else [error]
        assert problems
        for problem in problems:
            line = str(problem)
            assert line.isprintable(), line
            assert len(line) < 1200, line


@QUICK
@given(text=BENCHES)
@example(text='study: "\\Uffffffff"\n')
@example(text="%YAML 99999999999999999999.1\n---\nstudy: s\n")
@example(text="study: s\ntasks: " + "a/" * 5000 + "\nenvironments: envs.tsv\n")
@example(text="study: s\ntasks: tasks\nenvironments: [{name: a, workspace: /" + "b" * 400 + "}]\n")
def test_d22_bench_yaml(root: Path, text: str) -> None:
    (root / "bench.yaml").write_bytes(encoded(text))
    load_or_complain(root)


@QUICK
@given(data=st.binary(max_size=300))
def test_d22_bytes_for_bench_yaml(root: Path, data: bytes) -> None:
    (root / "bench.yaml").write_bytes(data)
    load_or_complain(root)


@QUICK
@given(table=TABLES, controls=VALUES)
def test_d22_tables_and_controls(root: Path, table: str, controls: str) -> None:
    (root / "bench.yaml").write_text(
        "study: s\ntasks: tasks\nenvironments: envs.tsv\ncontrols: controls.yaml\n", encoding="utf-8"
    )
    (root / "envs.tsv").write_bytes(encoded(table))
    (root / "controls.yaml").write_bytes(encoded(f"slice_id: x\nnetwork: {controls}\n"))
    load_or_complain(root)


@QUICK
@given(task=BENCHES, agents=VALUES, prompt=st.binary(max_size=20))
def test_d22_tasks_and_agents(root: Path, task: str, agents: str, prompt: bytes) -> None:
    (root / "bench.yaml").write_text(
        "study: s\ntasks: tasks\nenvironments: [{name: a}]\nagents: agents.yaml\n", encoding="utf-8"
    )
    (root / "agents.yaml").write_bytes(encoded(f"- {agents}\n- {{name: a, command: {agents}}}\n"))
    folder = root / "tasks" / "t01"
    (folder / "task.yaml").write_bytes(encoded(task.replace("study: s\n", "")))
    (folder / "prompt.md").write_bytes(prompt)
    load_or_complain(root)
    os.unlink(folder / "task.yaml")
    os.unlink(folder / "prompt.md")


@QUICK
@given(text=st.text(alphabet="ab:-[]{},&*!|>'\"#%@`?\\ \n\t\x00\ufeff0", max_size=60))
def test_d22_the_yaml_reader_raises_nothing_of_its_own(text: str) -> None:
    parse(text, Path("f"), Reading())


@QUICK
@given(rows=st.lists(st.lists(st.text("abc.#/", min_size=1, max_size=5), min_size=3, max_size=3), max_size=4))
def test_a_table_written_with_tabs_is_read_back(tmp_path: Path, rows: list[list[str]]) -> None:
    kept = [row for row in rows if not row[0].startswith("#")]
    file = tmp_path / "t.tsv"
    file.write_text("\n".join(["x\ty\tz", *("\t".join(row) for row in rows)]))
    found = read_table(file, Reading(), ("x", "y", "z"))
    assert [[getattr(cell, "text", None) for cell in row.nodes.values()] for row in found] == kept


@given(text=st.text(max_size=220))
def test_d11_an_accepted_id_is_one_printable_line_that_goes_nowhere(text: str) -> None:
    if id_fault(text) is None:
        assert 1 <= len(text) <= 200
        assert not text.startswith("-")
        assert not {".", ".."} & set(text.replace("\\", "/").split("/"))
        assert len(text.splitlines()) == 1
