"""Whether the flips are the box's or the subject's own, and what to do next: no more than the tests allow to say."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tui_bench.analysis.wording.numbers import p_text

if TYPE_CHECKING:
    from tui_bench.analysis.flip import FlipTable
    from tui_bench.analysis.gate import GateResult

_LOUD = "the box dominates: fix the environment, publish nothing about models yet"


def moves_alone(gate: GateResult) -> bool:
    """Whether a live agent is known to disagree with itself: then flips without that number mislead."""
    excess = gate.table.excess if gate.table is not None else None
    return gate.live and gate.boxes is None and excess is not None and excess.within > 0


def excess_lines(gate: GateResult, table: FlipTable) -> list[str]:
    """For a live agent: whether the box is shown to be the cause, or why that cannot be said."""
    if not gate.live:
        return []
    excess = table.excess
    # Fresh attempts were tested apart from these and may say otherwise.
    where = " in the planned attempts" if gate.reran else ""
    if excess is None:
        unknown = f"same-box disagreement unknown{where}: it needs 2 or more attempts in each cell"
        return [unknown] if table.flips else []
    if not table.flips and not excess.between:
        return []
    shown = "shown to be the box" if _excess_shown(gate, table) else "not shown to be the box"
    return [
        f"same box {float(excess.within):.2f}, across {float(excess.between):.2f}, "
        f"excess {float(excess.excess):+.2f} ({p_text(excess.p)}): {shown}{where}"
    ]


def next_lines(gate: GateResult, table: FlipTable) -> list[str]:
    """The published decision table's next step by tier, unless nothing shows that the flips are the box's.

    Empty under a state that forbids to read the flips at all.
    """
    if gate.state not in ("open", "shut") or table.tier not in ("NOISY", "LOUD"):
        return []
    # The tier is named here where the first line does not hold it.
    held = table.rate is not None and table.rate < gate.limit and not moves_alone(gate) and gate.boxes is None
    tier = "" if held else f"tier {table.tier} - "
    noise = _maybe_noise(gate, table)
    if noise:
        return [f"next: {tier}{noise[0]}", *noise[1:]]
    if table.tier == "LOUD":
        return [f"next: tier LOUD - {_LOUD}"]
    lead = f"box noise is as large as a {table.flips}-task model lead"
    if gate.reran:
        return [f"{tier}{lead}; what the re-run says stands above"]
    return [f"next: {lead} - re-run the flips" if held else f"next: {tier}{lead}: re-run the flips"]


def _maybe_noise(gate: GateResult, table: FlipTable) -> list[str]:
    """What to do where the flips are, or may be, no doing of the box; empty where they are the box's."""
    if gate.rerun_says == "box" or (gate.live and _excess_shown(gate, table)):
        return []
    if gate.rerun_says == "test noise":
        return ["by the re-run the flips are the test's own noise: fix the test"]
    if gate.rerun_says == "agent noise":
        return ["by the re-run the flips are the agent's own noise: more attempts"]
    if not gate.live:
        return []
    maybe = "the flips may be the agent's own noise"
    if gate.rerun_says == "undecided":
        return [f"{maybe}, the re-run did not decide: more attempts"]
    if gate.reran:
        return [f"{maybe}: wait for the re-run's last attempt"]
    return [
        f"{maybe}; cheapest: re-run the flips",
        "the re-run is registered (resume --rerun-flips); or add attempts in each cell",
    ]


def _excess_shown(gate: GateResult, table: FlipTable) -> bool:
    return table.excess is not None and table.excess.p <= Fraction(gate.rule.alpha)
