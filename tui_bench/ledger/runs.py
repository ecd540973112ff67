"""Where everything of a run lies, and names that are safe as folders."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tui_bench.errors import UsageError

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG_TEXT = 40
NO_AGENT = "-"
"""Folder name in the place of an agent where the study has none."""


def slug(name: str) -> str:
    """A folder name for any id: its safe characters, at most 40, and 8 hex digits of its sha256.

    Distinct ids get distinct names, also where a file system does not tell upper from lower case.
    """
    text = _UNSAFE.sub("-", name).strip("-.")[:_SLUG_TEXT].rstrip("-.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text}-{digest}" if text else digest


def new_run_id(
    environ: Mapping[str, str], now: float | None = None, token: str | None = None
) -> str:
    """`RUN_ID` of `environ` where it is set, else `YYYYmmddTHHMMSSZ-<4 hex>` by the clock in UTC.

    Raises UsageError when `RUN_ID` is not usable as a file name.
    """
    if given := environ.get("RUN_ID"):
        if not _RUN_ID.fullmatch(given):
            raise UsageError(
                f"RUN_ID {given[:80]!r}: use 1 to 64 letters, digits, dots, dashes or underscores, "
                "the first a letter or digit"
            )
        return given
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() if now is None else now))
    return f"{stamp}-{token or secrets.token_hex(2)}"


def default_ledger(run_id: str, folder: Path) -> Path:
    """`runs/<run_id>.jsonl` in `folder`."""
    return folder / "runs" / f"{run_id}.jsonl"


@dataclass(frozen=True, slots=True)
class Layout:
    """Files of the run whose ledger is `ledger`. Nothing is made or checked here."""

    ledger: Path

    @property
    def files(self) -> Path:
        """Folder beside the ledger that holds all its files: its name without the suffix."""
        if self.ledger.suffix:
            return self.ledger.with_suffix("")
        return self.ledger.with_name(self.ledger.name + ".files")

    @property
    def plan(self) -> Path:
        """What was planned, cell by cell, in order."""
        return self.files / "plan.json"

    @property
    def runner(self) -> Path:
        """The runner's pid, start time, host, boot id and socket."""
        return self.files / "runner.json"

    @property
    def runner_log(self) -> Path:
        """What the runner itself had to say."""
        return self.files / "runner.log"

    def attempt_folder(self, task: str, env: str, agent: str | None, number: int, repeat: int = 0) -> Path:
        """Folder of one attempt's logs; `repeat` counts the runs that replace it."""
        place = self.files / "attempts" / slug(task) / slug(env) / (slug(agent) if agent else NO_AGENT)
        return place / (f"{number}.r{repeat}" if repeat else str(number))

    def prompt(self, task: str) -> Path:
        """The task's text as the agents got it; a run keeps one copy a task."""
        return self.files / "tasks" / slug(task) / "prompt.md"

    def screen_folder(self, task: str, env: str) -> Path:
        """Folder of the logs of one task's screening in one environment."""
        return self.files / "screen" / slug(task) / slug(env)

    def relative(self, path: Path) -> str:
        """A file of this run as rows name it: relative to the files folder, with forward slashes."""
        return path.relative_to(self.files).as_posix()
