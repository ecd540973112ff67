"""What a run ends with on stdout: banner, a summary line per agent, ledger and head."""

from __future__ import annotations

from pathlib import Path

from tui_bench.analysis.banner import banner, gates
from tui_bench.analysis.gate import exit_of
from tui_bench.analysis.state import RunState
from tui_bench.analysis.wording.numbers import counted
from tui_bench.cleaning import clean


def closing_lines(state: RunState, ledger: Path, *, strict: bool) -> list[str]:
    """Plain lines, cleaned for a terminal."""
    lines = banner(state, strict=strict)
    lines += [
        f"attempts: {state.done} of {state.planned} planned; {state.passed} pass, {state.failed} fail, "
        f"{state.voided} void" + (f", {state.replaced} replaced" if state.replaced else "") + _beyond(state),
        f"ledger: {ledger} head: {state.head}",
    ]
    return [clean(line) for line in lines]


def _beyond(state: RunState) -> str:
    """Attempts outside the plan: no gate counts them."""
    probes, fresh = state.counts.probes, state.counts.reruns
    return (f"; {counted(fresh, 'fresh attempt')} of flipped tasks" if fresh else "") + (
        f"; {counted(probes, 'probe')}, never scored" if probes else ""
    )


def exit_code(state: RunState, *, strict: bool) -> int:
    """The first present of 2, 4, 5, 3, 1, 0 over all gates."""
    return exit_of(gates(state, strict=strict))
