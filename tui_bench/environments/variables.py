"""The environment variables of every command, built from nothing.

Nothing of the tool's own environment passes: not its virtual environment, PYTHONPATH, BASH_ENV, LD_*, GIT_*, no keys.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
CONSTANTS = {
    "LANG": "C.UTF-8",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "TERM": "dumb",
}


@cache
def base_prefix() -> Path:
    """Folder of the real interpreter's installation, also where this one runs from a virtual environment."""
    return Path(sys.base_prefix).resolve()


@cache
def search_path() -> str:
    """PATH of every command: the base prefix's programs, then the system's; never the tool's virtual environment."""
    folders = [str(base_prefix() / "bin"), *SYSTEM_FOLDERS]
    return ":".join(dict.fromkeys(folders))


def clean_variables(
    *, path: str, home: str, tmp: str, extra: Mapping[str, str] | None = None, last: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a command. `home` and `tmp` are paths as the command sees them.

    `extra` is what this command is given; `last`, the environment's own variables, wins over everything.
    """
    return {"PATH": path, "HOME": home, "TMPDIR": tmp, **CONSTANTS, **(extra or {}), **(last or {})}
