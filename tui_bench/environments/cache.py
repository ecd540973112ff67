"""Where the tool keeps what it can make again: probes, screening results, workspaces that nobody named."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The tool's folder below `$XDG_CACHE_HOME`, or below `~/.cache` where that is not an absolute path. Not made."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "tui_bench"


def made_cache_folder() -> Path:
    """The same, made when missing. Raises OSError."""
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
