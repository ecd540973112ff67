"""What is never taken over from an agent into a verify tree, whatever the task allows.

A test runner obeys files that lie beside what it tests: start-up code, runner settings, bytecode, installed plug-ins,
shell profiles, and modules that take the place of the standard library's. An agent that could bring one of those
would decide its own verdict. What a task names in `writable` without a wildcard is allowed all the same.
"""

from __future__ import annotations

import fnmatch
import json
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

FOLDERS = (".git", "__pycache__", ".pytest_cache", "*.dist-info", "*.egg-info")
"""With everything below them, at any depth."""
NAMES = (
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "noxfile.py",
    ".coveragerc", "sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "*.pyo", "*.egg-link", "pyvenv.cfg",
    "GNUmakefile", "makefile", "Makefile", "justfile", ".justfile", "Rakefile", ".rspec",
    ".bash_profile", ".bash_login", ".bash_logout", ".bashrc", ".profile", ".kshrc", ".zshenv", ".zshrc", ".zprofile",
    ".zlogin", ".inputrc", ".envrc", ".pdbrc", ".python-version", ".tool-versions", ".npmrc",
    "jest.config.*", "vitest.config.*", "karma.conf.*", ".mocharc*", "ava.config.*", "phpunit.xml*",
)  # fmt: skip
"""At any depth, also where the task's source has such a file and the agent edits it."""
RUNNERS = frozenset({
    "_pytest", "pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "pygments", "xdist",
    "execnet", "hypothesis", "coverage", "nose", "nose2", "tox", "nox", "test", "setuptools", "pkg_resources",
    "_distutils_hack", "pip", "wheel",
})  # fmt: skip
SHADOWED = frozenset(sys.stdlib_module_names) | RUNNERS
"""Names of modules that a new top-level module must not take."""
_MODULE_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_TEST_TOOLS = ("pytest", "coverage", "tox", "nox", "hatch", "pdm", "poe", "taskipy", "hypothesis", "nose", "unittest")
_SCRIPT_KEYS = ("scripts", "jest", "mocha", "ava", "vitest", "nyc", "c8", "tap")
_SIZE_LIMIT = 1 << 20


class Denied:
    """The deny set for one change: built from the names at the source's top and the paths the agent leaves."""

    def __init__(self, base_top: Collection[bytes], final: Iterable[bytes]) -> None:
        self._shadows = {top for path in final if (top := _shadow(path)) is not None and top not in base_top}

    def match(self, path: bytes) -> bool:
        """Whether a path is denied by its name or by a folder it lies in."""
        *folders, name = (part.decode("utf-8", "surrogateescape") for part in path.split(b"/"))
        if path.split(b"/", 1)[0] in self._shadows:
            return True
        if any(_like(part, FOLDERS) for part in (*folders, name)):
            return True
        return _like(name, NAMES)


def _like(name: str, patterns: tuple[str, ...]) -> bool:
    # also on a case-sensitive file system: the tree may be verified on one that is not
    return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def _shadow(path: bytes) -> bytes | None:
    """Top-level name under which a path makes a module of a reserved name, None where it makes none."""
    top, _, rest = path.partition(b"/")
    name = top.decode("utf-8", "surrogateescape")
    makes_module = rest.split(b".")[0] == b"__init__" if rest else name.endswith(_MODULE_ENDINGS)
    return top if makes_module and name.split(".")[0] in SHADOWED else None


def alters_test_settings(name: bytes, before: Path, after: Path) -> bool:
    """Whether a new version of a project file changes how tests are run; False for files that cannot.

    `pyproject.toml`: the tables of test tools. `package.json`: scripts and test tools. A file that does not parse
    counts as altered. Paths may be missing.
    """
    part = _PARTS.get(name)
    if part is None:
        return False
    try:
        return part(_text(before)) != part(_text(after))
    except (ValueError, RecursionError, AttributeError):
        return True


def _text(path: Path) -> str:
    if path.is_symlink():
        raise ValueError("a link is no project file")
    if not path.is_file():
        return ""
    if path.stat().st_size > _SIZE_LIMIT:
        raise ValueError("too large")
    return path.read_text("utf-8")


def _pyproject(text: str) -> Mapping[str, Any]:
    tools = tomllib.loads(text).get("tool", {})
    return {name: table for name, table in tools.items() if name.startswith("pytest") or name in _TEST_TOOLS}


def _package_json(text: str) -> Mapping[str, Any]:
    found = json.loads(text) if text else {}
    return {name: found[name] for name in _SCRIPT_KEYS if name in found}


_PARTS: Mapping[bytes, Callable[[str], Mapping[str, Any]]] = {
    b"pyproject.toml": _pyproject,
    b"package.json": _package_json,
}
