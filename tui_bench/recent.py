"""Which ledgers were used lately, in any folder: one JSON object a line in the user's state folder.

A convenience and nothing more: what cannot be written or read is passed over, and no run depends on it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

FILE_NAME = "recent.jsonl"
KEPT = 100
"""Ledgers that are remembered."""
LONGEST = 256 * 1024
"""Bytes from which the file is written anew with what is still of use."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A ledger that was opened, and the study it was started from where that is known."""

    ledger: Path
    study: Path | None = None


def state_folder() -> Path:
    """The tool's folder below `$XDG_STATE_HOME`, or below `~/.local/state` where that is not absolute. Not made."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "tui_bench"


def remember(ledger: Path, study: Path | None = None) -> None:
    """Note that a ledger was used."""
    line = _line(Recent(ledger.absolute(), study.absolute() if study is not None else None))
    file = state_folder() / FILE_NAME
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, line)
            long = os.fstat(descriptor).st_size > LONGEST
        finally:
            os.close(descriptor)
        if long:
            _shorten(file)
    except OSError:
        return


def recent() -> list[Recent]:
    """Ledgers used lately, the newest first, each once; its last known study stays with it."""
    try:
        with (state_folder() / FILE_NAME).open("rb") as file:
            lines = file.read(4 * LONGEST).splitlines()
    except OSError:
        return []
    found: dict[Path, Recent] = {}
    studies: dict[Path, Path] = {}
    for line in lines:
        one = _read(line)
        if one is None:
            continue
        if one.study is not None:
            studies[one.ledger] = one.study
        found.pop(one.ledger, None)
        found[one.ledger] = one
    return [Recent(ledger, studies.get(ledger)) for ledger in reversed(found)][:KEPT]


def _line(one: Recent) -> bytes:
    body = {"ledger": str(one.ledger), "study": str(one.study) if one.study is not None else None}
    return json.dumps(body, sort_keys=True).encode() + b"\n"


def _read(line: bytes) -> Recent | None:
    try:
        value = json.loads(line)
        ledger, study = value["ledger"], value.get("study")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not _is_path(ledger):
        return None
    return Recent(Path(ledger), Path(study) if _is_path(study) else None)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/") and "\0" not in value


def _shorten(file: Path) -> None:
    fresh = file.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(b"".join(map(_line, reversed(recent()))))
    fresh.replace(file)
