"""The banner and the gates of a run, from its state alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from tui_bench.analysis.contest import contest
from tui_bench.analysis.flip import flip_table
from tui_bench.analysis.gate import Boxes, GateResult, gate, no_gate, worst
from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.stats.paired import cochran_q, holm, mcnemar_midp
from tui_bench.analysis.wording import contest_line
from tui_bench.analysis.wording.numbers import counted

_SCORED = (Code.PASS, Code.FAIL)


def gates(state: RunState, strict: bool = False) -> list[GateResult]:
    """One gate for each agent, at the registered rule. With more than two environments the worst pair decides."""
    several = len(state.agents) > 1
    return [replace(_gate_of(state, agent, strict), named=several) for agent in state.agents]


def banner(state: RunState, strict: bool = False) -> list[str]:
    """What the run allows one to say, most important first; every first line fits 80 cells."""
    found = gates(state, strict)
    standing = contest(state, found)
    lines = [] if standing is None else [contest_line(standing)]
    return lines + [line for one in found for line in one.lines] + _of_the_run(state)


def _of_the_run(state: RunState) -> list[str]:
    """Lines that belong to no single gate."""
    lines: list[str] = []
    if state.status in ("stopped", "paused") and state.done < state.planned:
        why = f": {state.why}" if state.why and state.status == "stopped" else ""
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
