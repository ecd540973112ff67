"""Every error a person can meet.

    TuiBenchError               one line: what is wrong, where, and the cure; exit code 2
    ├── UsageError              the command line asks for something that does not exist
    ├── StudyError              study files do not load; carries every problem found
    ├── WorkspaceError          a folder that must not be used as a workspace
    ├── LedgerError             a ledger cannot be read or written
    │   ├── LedgerBusy          another process writes it; the message names the owner
    │   └── LedgerDamaged       a complete line is not a row, or the chain is broken
    ├── EnvironmentUnavailable  an environment cannot be reached or started
    ├── ControlRefused          a control the study asks for cannot be enforced here
    └── RunnerError             no runner answers, or it answered with an error

The command line prints `str(error)` after `tui-bench: ` and exits with `error.exit_code`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class TuiBenchError(Exception):
    """Base of all errors meant for a person; `str()` is one line (StudyError: one a problem)."""

    exit_code = 2


class UsageError(TuiBenchError):
    """The command line names something that does not exist."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a study file. `line` is 1-based, None where the file has no lines to name."""

    file: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        return f"{where}: {self.message}"


class StudyError(TuiBenchError):
    """All problems of a study at once, in file and line order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class WorkspaceError(TuiBenchError):
    """A path that the tool refuses to make folders in, or to remove."""


class LedgerError(TuiBenchError):
    """A ledger cannot be read or written."""


class LedgerBusy(LedgerError):
    """Another process holds the ledger's lock."""


class LedgerDamaged(LedgerError):
    """A line that ends in a newline is not a row, or does not follow from the one before."""


class EnvironmentUnavailable(TuiBenchError):
    """An environment cannot be started; the message holds the program's own words."""


class ControlRefused(TuiBenchError):
    """A control that the study asks for by name cannot be enforced in an environment."""


class RunnerError(TuiBenchError):
    """No runner listens on the run's socket, or it refused a request."""
