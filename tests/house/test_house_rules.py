"""The shape of the code itself: lengths, docstrings, and what starts without what."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "tui_bench"
SOURCES = sorted(PACKAGE.rglob("*.py"))
FILE_LINES = 450
FUNCTION_LINES = 60


def named(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_no_file_is_longer_than_the_limit(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_no_function_is_longer_than_the_limit(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {one.name: (one.end_lineno or 0) - one.lineno + 1 for one in functions}
    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["flips", "--help"], ["gate", "--help"], ["fsck", "--help"]]
)
def test_headless_commands_do_not_load_the_screen(words: list[str]) -> None:
    script = (
        "import sys\n"
        "from tui_bench.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        "assert not {'textual', 'rich'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tui-bench" in done.stdout
