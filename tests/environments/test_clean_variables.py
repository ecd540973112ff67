"""The variables of a command are built from nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest_environments import Bench

from tui_bench.environments.variables import clean_variables, search_path


def test_b32_nothing_of_the_tools_own_environment_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "GIT_DIR", "LD_PRELOAD", "BASH_ENV", "API_KEY", "TZ", "LC_ALL"):
        monkeypatch.setenv(name, "x")
    found = clean_variables(path="/bin", home="/h", tmp="/t")
    assert found == {
        "PATH": "/bin", "HOME": "/h", "TMPDIR": "/t", "LANG": "C.UTF-8", "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb",
    }  # fmt: skip


def test_the_environments_own_variables_win() -> None:
    found = clean_variables(
        path="/bin", home="/h", tmp="/t", extra={"A": "1", "LANG": "C"}, last={"A": "2", "TZ": "UTC"}
    )
    assert (found["A"], found["LANG"], found["TZ"]) == ("2", "C", "UTC")


def test_path_has_the_real_interpreter_and_no_virtual_environment() -> None:
    folders = search_path().split(":")
    assert folders[-3:] == ["/usr/local/bin", "/usr/bin", "/bin"] or set(folders[-3:]) <= {
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
    }
    assert (Path(folders[0]) / "python3").exists()
    if sys.prefix != sys.base_prefix:
        assert f"{sys.prefix}/bin" not in folders


async def test_b32_a_command_sees_exactly_these(bench: Bench) -> None:
    outcome = await bench.run("env; command -v python3; python3 -c 'import textual'")
    seen = dict(line.split("=", 1) for line in outcome.output.stdout_tail.decode().splitlines() if "=" in line)
    assert set(seen) - {"PWD"} == set(clean_variables(path="", home="", tmp=""))
    assert b"No module named 'textual'" in outcome.output.stderr_tail
