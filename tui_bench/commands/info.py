"""Versions of the tool and of what it uses, and where everything lies."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tui_bench import __version__
from tui_bench.cleaning import clean
from tui_bench.commands.json_output import print_json
from tui_bench.engine.identity import harness_digest
from tui_bench.environments.cache import cache_folder
from tui_bench.environments.variables import base_prefix

EXAMPLES = """\
examples:
  tui-bench info
  tui-bench info --json
"""
LIBRARIES = ("textual", "pyyaml", "psutil", "aiofiles", "msgspec")
PROGRAMS = ("git", "bash", "bwrap", "podman", "docker", "ssh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def execute(args: argparse.Namespace) -> int:
    found = facts()
    if args.json:
        print_json("info", None, 0, [], found)
        return 0
    for name, value in found.items():
        print(clean(f"{name:<16} {'not found' if value is None else value}"))
    return 0


def facts() -> dict[str, str | None]:
    """Name -> value; None for what is not there."""
    named: dict[str, str | None] = {
        "tui_bench": __version__,
        "harness sha256": harness_digest(),
        "package": str(Path(__file__).resolve().parent.parent),
        "python": f"{platform.python_version()} ({sys.executable})",
        "tasks' python": str(base_prefix()),
        "runs": str(Path("runs").absolute()),
        "workspaces": str(cache_folder() / "work"),
        "cache": str(cache_folder()),
    }
    named |= {name: _library(name) for name in LIBRARIES}
    return named | {name: shutil.which(name) for name in PROGRAMS}


def _library(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
