"""What the screen asks of a runner, and of whoever can start one. The commands bring implementations; this room knows
no socket, no engine and no process.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from tui_bench.tui.trees import TreeMaker

RunnerState = Literal["alive", "gone", "unknown"]
"""`gone`: it ran on this machine and has ended; `unknown`: none ever wrote its file, or it runs elsewhere."""


class RunnerLink(Protocol):
    """A line to the runner of one run."""

    @property
    def alive(self) -> bool:
        """Whether the runner process still exists."""

    async def request(self, do: str, arg: object = None) -> dict[str, Any]:
        """status | pause | resume | jobs | stop; answers {ok, id, state, running, queued, jobs, error}.

        Raises RunnerError when nobody answers or the runner refuses.
        """


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a study would run, or every problem that keeps it from running. Texts are not cleaned yet."""

    problems: tuple[str, ...] = ()
    study: str = ""
    tasks: int = 0
    environments: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Empty where the subject does without an agent."""
    subject: str = ""
    attempts: int = 1
    jobs: int = 1
    flip_rate: str = ""
    min_pairs: str = ""
    notes: tuple[str, ...] = ()

    def planned(self, attempts: int) -> int:
        """Attempts in all, at so many in each cell."""
        return self.tasks * len(self.environments) * max(1, len(self.agents)) * attempts


class Launcher(Protocol):
    """Finds, checks and starts runs. `check`, `start` and `resume` take their time: they are called in a thread."""

    def runner(self, ledger: Path) -> RunnerState:
        """What is known of the run's runner."""

    def link(self, ledger: Path) -> RunnerLink | None:
        """A line to the run's runner, also where none lives yet; None where there can be none."""

    def trees(self, ledger: Path) -> TreeMaker | None:
        """What makes fresh copies of the run's trees; None where that cannot be done."""

    def check(self, study: Path) -> CheckResult:
        """Load a study. Never raises on what lies there: problems are part of the result."""

    def start(self, study: Path, attempts: int | None, jobs: int | None) -> Path:
        """Start a run in the background and give its ledger; None leaves a number as the study has it.

        Raises TuiBenchError when the runner does not come up.
        """

    def resume(self, ledger: Path) -> None:
        """Go on with a run in the background. Raises TuiBenchError when the runner does not come up."""
