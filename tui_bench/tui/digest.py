"""What takes a look at every cell: the banner's lines and the numbers of the side panes, worked out in one go."""

from __future__ import annotations

from dataclasses import dataclass

from tui_bench.analysis.banner import banner
from tui_bench.analysis.state import RunState
from tui_bench.analysis.tally import Tally, VoidReason, VoidTasks, tallies, void_reasons, void_tasks


@dataclass(frozen=True, slots=True)
class Digest:
    """One picture of a run. Lines of the banner are not cleaned yet."""

    lines: tuple[str, ...]
    tallies: tuple[Tally, ...] = ()
    reasons: tuple[VoidReason, ...] = ()
    void_tasks: tuple[VoidTasks, ...] = ()


def digest(state: RunState) -> Digest:
    """The picture now. Pure; the state must hold still meanwhile."""
    return Digest(
        tuple(banner(state)), tuple(tallies(state)), tuple(void_reasons(state)), tuple(void_tasks(state))
    )
