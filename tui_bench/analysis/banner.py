"""The banner and the gates of a run, from its state alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from tui_bench.analysis.contest import contest
from tui_bench.analysis.flip import flip_table
from tui_bench.analysis.gate import Boxes, GateResult, gate, no_gate, worst
from tui_bench.analysis.reruns import reruns
from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.stats.paired import cochran_q, holm, mcnemar_midp
from tui_bench.analysis.wording import contest_line, damage_line, rerun_lines
from tui_bench.analysis.wording.numbers import counted

_SCORED = (Code.PASS, Code.FAIL)
_WHOLE = (None, "complete")
"""Reasons of an `ended` row that leave nothing of the plan out."""


def gates(state: RunState, strict: bool = False) -> list[GateResult]:
    """One gate for each agent, at the registered rule. With more than two environments the worst pair decides."""
    several = len(state.agents) > 1
    return [replace(_gate_of(state, agent, strict), named=several) for agent in state.agents]


def banner(state: RunState, strict: bool = False) -> list[str]:
    """What the run allows one to say, most important first; every first line fits 80 cells."""
    found = gates(state, strict)
    lines = _standing(state, found)
    for one in found:
        lines += one.lines_with(_again(state, one.agent))
    return lines + _of_the_run(state)


def _standing(state: RunState, found: Sequence[GateResult]) -> list[str]:
    """The line before the gates of several agents; a damaged ledger ranks nobody, so it says that instead."""
    if state.damage:
        return [damage_line(state.damage)] if len(found) > 1 else []
    standing = contest(state, found)
    return [] if standing is None else [contest_line(standing)]


def _again(state: RunState, agent: str) -> list[str]:
    """What the re-run flips of an agent say, to stand under its gate."""
    alpha = float(Fraction(state.rule.alpha))
    named = len(state.env_names()) > 2
    return [line for one in reruns(state, agent) for line in rerun_lines(one, alpha, named=named)]


def _of_the_run(state: RunState) -> list[str]:
    """Lines that belong to no single gate."""
    lines: list[str] = []
    short = state.done < state.planned
    if short and (state.status in ("stopped", "paused") or (state.status == "ended" and state.why not in _WHOLE)):
        why = f": {state.why}" if state.why and state.status != "paused" else ""
        lines.append(f"  {state.status} after {state.done} of {counted(state.planned, 'attempt')}{why}")
    nops = {agent.name for agent in state.run.agents if agent.agent_kind == "nop"} if state.run else set()
    for agent, idle in sorted(state.idle.items()):
        done = sum(cell.done() for key, cell in state.cells.items() if key[2] == agent)
        if agent not in nops and 2 * idle > done:
            lines.append(
                f"AGENT NOT WORKING  {agent}: {idle} of {counted(done, 'attempt')} left an empty patch and no usage"
            )
    if state.excluded:
        names = ", ".join(f"{one.task} {one.outcome}" for one in state.excluded.values())
        lines.append(f"  set apart before the run: {counted(len(state.excluded), 'task')}: {names}")
    if state.replaced:
        lines.append(f"  {counted(state.replaced, 'lost attempt')} run again, the newest counts")
    if state.counts.duplicates:
        lines.append(f"  {counted(state.counts.duplicates, 'duplicate row')}: the newest counts")
    return lines


def _gate_of(state: RunState, agent: str, strict: bool) -> GateResult:
    envs = state.env_names()
    if len(envs) < 2:
        return no_gate(state, agent, strict=strict)
    tables = [flip_table(state, agent, a, b) for a, b in combinations(envs, 2)]
    results = [gate(table, state.rule, state, strict=strict) for table in tables]
    if len(results) == 1:
        return results[0]
    splits = [(table.down, table.up) for table in tables if table.scored]
    adjusted = holm([float(mcnemar_midp(down, up)) for down, up in splits])
    boxes = Boxes(
        len(envs), cochran_q(_scored_rows(state, agent, envs)), len(splits), min(adjusted) if adjusted else None
    )
    return worst(results, boxes)


def _scored_rows(state: RunState, agent: str, envs: Sequence[str]) -> list[list[bool]]:
    """Verdicts of the tasks scored in every environment, one row a task."""
    number = state.rule.declared_attempt
    rows = [[state.cell(task, env, agent).code(number) for env in envs] for task in state.counted_tasks()]
    return [[code is Code.PASS for code in row] for row in rows if all(code in _SCORED for code in row)]
