"""The sentences of a gate: one line for each state, and what belongs under it.

A block is the line of the gate's state, its own details, then the lines of further states that apply, indented. The
first line of a block fits 80 cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tui_bench.analysis.flip import FlipTable
from tui_bench.analysis.stats.proportion import (
    at_least,
    clean_pairs_needed,
    conclusive_flips,
    probability_within,
    upper_bound,
)
from tui_bench.analysis.stats.repeats import escape
from tui_bench.analysis.wording.cause_text import excess_lines, moves_alone, next_lines
from tui_bench.analysis.wording.numbers import (
    FIRST_LINE,
    cells,
    counted,
    fit,
    limit_text,
    names_text,
    p_text,
    percent,
    rate_text,
    short_percent,
    wrapped,
)
from tui_bench.analysis.wording.void_text import void_lines, void_summary

if TYPE_CHECKING:
    from tui_bench.analysis.gate import GateResult

Lines = list[str]
_COUNTING = frozenset({"open", "shut", "running"})
"""States whose line counts the flips."""
_NAME_ROOM = 20
_FACTS_MOST = 10
"""Undeclared facts listed by name; further ones are counted."""
_FLAKY_HEAD = "FLAKY TEST    "
_FLAKY_TAIL = ": same tree, same box, different verdicts"


def gate_line(gate: GateResult) -> str:
    """The first line of a gate's block, cut to 80 cells where foreign names make it longer."""
    return fit(_first(gate, _BLOCKS[gate.state](gate)[0]), FIRST_LINE)


def gate_lines(gate: GateResult, again: Sequence[str] = ()) -> Lines:
    """The whole block; every line but the first is indented by two spaces.

    `again`, what the re-run flips say, follows the line that counts the flips: it was measured to judge them.
    """
    blocks = [(state, _BLOCKS[state](gate)) for state in dict.fromkeys((gate.state, *gate.also))]
    lines: Lines = []
    held = False
    for index, (state, (first, *details)) in enumerate(blocks):
        lines += _cut(gate, first) if index == 0 else [first]
        if state in _COUNTING:
            at = 1 if index == 0 else len(lines)
            lines[at:at] = again
            held = True
        lines += details
    lines += [*_common(gate), *(() if held else again)]
    return [lines[0], *(f"  {line}" for line in lines[1:])]


def _cut(gate: GateResult, line: str) -> Lines:
    """The first line within 80 cells. One cut for its width stands below in full: the cut must not cost a name."""
    first = _first(gate, line)
    return [fit(first, FIRST_LINE), *([first] if cells(first) > FIRST_LINE else [])]


def damage_line(damage: Sequence[str]) -> str:
    """That the ledger is damaged, in a line of at most 80 cells. `damage` is not empty."""
    return fit(_damaged(damage), FIRST_LINE)


def _open(gate: GateResult) -> Lines:
    table, rate = _scored(gate)
    first = _heading(gate, "OPEN")
    if table.flips == 0:
        return [first, _quiet_bound(gate, table), *excess_lines(gate, table), *next_lines(gate, table)]
    if gate.conclusive:
        bound = f"conclusive: true rate below {percent(upper_bound(table.flips, table.scored))} (95 %)"
    else:
        bound = (
            f"weak: {table.flips}/{table.scored} fits a true rate of {percent(table.lower or 0)} to "
            f"{percent(table.upper or 0)}; {_posterior(gate, table)}"
        )
    return [first, *excess_lines(gate, table), bound, *next_lines(gate, table), *_directions(gate, rate)]


def _shut(gate: GateResult) -> Lines:
    table, rate = _scored(gate)
    if gate.mid_run and table.scored + table.void < table.planned:
        return _shut_early(table)
    lines = [_heading(gate, "SHUT"), *excess_lines(gate, table)]
    if not gate.conclusive:
        lines.append(_undecided(gate, table))
    return [*lines, *next_lines(gate, table), *_directions(gate, rate)]


def _shut_early(table: FlipTable) -> Lines:
    complete = table.scored + table.void
    return [
        f"GATE SHUT     final after {complete} of {table.planned} pairs ({counted(table.flips, 'flip')}) - "
        f"stop saves {counted(table.attempts_left, 'attempt')}",
        "rate not estimated: stopped early",
    ]


def _heading(gate: GateResult, word: str) -> str:
    """`GATE OPEN   1 of 12 tasks flipped (0.083 <= 0.10)` and as much beside it as 80 cells hold."""
    table, rate = _scored(gate)
    if gate.boxes is not None:
        return _boxes_heading(gate, word)
    head = f"GATE {word}   {table.flips} of {table.scored} tasks flipped"
    if moves_alone(gate):
        return f"{head}; {float(table.expected_flips or 0):.1f} expected from the agent alone"
    sign = "<=" if word == "OPEN" else ">"
    reached = ", limit reached" if rate == gate.limit else ""
    head += f" ({rate_text(rate)} {sign} {limit_text(gate.limit)}{reached})"
    if word == "SHUT":
        return f"{head}  " + (_conclusive_shut(gate, table) if gate.conclusive else _both_directions(table))
    if reached:
        return head
    tier = f"  tier {table.tier}"
    pair = f"  {_pair(gate)}" if table.flips else ""
    return head + (pair if cells(head + pair + tier) <= _room(gate) else "") + tier


def _boxes_heading(gate: GateResult, word: str) -> str:
    table, _ = _scored(gate)
    boxes = gate.boxes
    count = boxes.count if boxes else 2
    line = f"GATE {word}     worst pair {_pair(gate)}: {table.flips} of {table.scored}; {count} boxes"
    if boxes is None or boxes.q is None:
        return f"{line}, Q undefined: no task differs"
    return f"{line}, Q = {float(boxes.q.q):.2f}, df {boxes.q.df}, {p_text(boxes.q.p)}"


def _quiet_bound(gate: GateResult, table: FlipTable) -> str:
    bound = f"flip rate below {percent(upper_bound(0, table.scored))} (95 %)"
    if gate.conclusive:
        return f"conclusive: {bound}"
    clean = clean_pairs_needed(gate.limit)
    return f"weak: {bound}" + (f"; {clean} clean pairs would show {short_percent(gate.limit)}" if clean else "")


def _posterior(gate: GateResult, table: FlipTable) -> str:
    value = probability_within(table.flips, table.scored, float(gate.limit))
    return p_text(value, f"P(rate <= {limit_text(gate.limit)})")


def _undecided(gate: GateResult, table: FlipTable) -> str:
    enough = conclusive_flips(table.scored, gate.limit)
    more = f"; {counted(enough, 'flip')} would be conclusive" if enough is not None else ""
    return f"undecided at 95 %: true rate {percent(table.lower or 0)} to {percent(table.upper or 0)}{more}"


def _conclusive_shut(gate: GateResult, table: FlipTable) -> str:
    return f"conclusive ({p_text(at_least(table.flips, table.scored, float(gate.limit)))})"


def _both_directions(table: FlipTable) -> str:
    return f"{table.down} PASS->FAIL, {table.up} FAIL->PASS"


def _directions(gate: GateResult, rate: Fraction) -> Lines:
    """Direction of the flips, where the first line does not hold it."""
    table, _ = _scored(gate)
    shown = rate > gate.limit and not gate.conclusive and not moves_alone(gate) and gate.boxes is None
    if shown or not table.flips:
        return []
    return [f"{_pair(gate)}: {_both_directions(table)}"]


def _no_evidence(gate: GateResult) -> Lines:
    table = gate.table
    if table is None:
        only = f"one environment only, {gate.env_a}" if gate.env_a is not None else "no environment in the ledger"
        return [f"NO EVIDENCE   0 complete pairs: {only}"]
    if table.planned == 0:
        why = f"all {table.excluded} tasks set apart before the run" if table.excluded else "no task in the ledger"
        return [f"NO EVIDENCE   0 complete pairs: {why}"]
    return [
        f"NO EVIDENCE   0 of {table.planned} pairs scored ({table.void} void, {table.missing} missing)",
        *void_lines(table.void_causes()),
    ]


def _no_verdict(gate: GateResult) -> Lines:
    table, _ = _some(gate)
    return [
        f"NO VERDICT    {table.scored} of {table.planned} pairs scored, {gate.needed} needed "
        f"({table.void} void, {table.missing} missing)",
        *void_lines(table.void_causes()),
    ]


def _uninformative(gate: GateResult) -> Lines:
    table, _ = _some(gate)
    head = f"UNINFORMATIVE {table.flips} of {table.scored} flipped, but no task passed in "
    if table.passes_a == table.passes_b == 0:
        return [
            f"{head}either environment",
            "identical failures say nothing about the box - run the reference patch",
        ]
    dead = gate.env_a if table.passes_a == 0 else gate.env_b
    return [f"{head}{dead}", "a box in which nothing passes cannot open a gate - run the reference patch"]


def _confounded(gate: GateResult) -> Lines:
    differs = gate.differs
    names = differs.undeclared if differs is not None else ()
    head = f"CONFOUNDED    envs differ in {counted(len(names), 'undeclared dimension')}: "
    shown = names_text(names, _room(gate) - cells(head))
    return [
        head + shown,
        *(wrapped("undeclared: ", names, FIRST_LINE - 2, _FACTS_MOST) if shown != ", ".join(names) else []),
        f"declared: {differs.declared if differs else None}. The flip count cannot be assigned to it",
    ]


def _flaky(gate: GateResult) -> Lines:
    runs = _runs_per_tree(gate)
    whole = f"{', '.join(gate.flaky)}{_FLAKY_TAIL} (verify {runs}x)"
    said = _flaky_first(gate.flaky, runs, _room(gate))
    lines = [_FLAKY_HEAD + said] if said == whole else [_FLAKY_HEAD + said, whole]
    if gate.steady:
        missed = round(float(escape(Fraction(1, 3), runs)) * 100)
        others = counted(gate.steady, "other")
        lines.append(f"{others}: no flake seen; a 1-in-3 flake escapes {runs} runs {missed} % of the time")
    return [*lines, "next: fix the test first; until then no flip can be assigned to the box"]


def _flaky_first(names: Sequence[str], runs: int, cells_free: int) -> str:
    """The names and what is wrong with them, in as many words as leave the first name whole."""
    room = cells_free - cells(_FLAKY_HEAD)
    tails = (f"{_FLAKY_TAIL} (verify {runs}x)", _FLAKY_TAIL, ": one tree, different verdicts", ": verdicts differ", "")
    for tail in tails:
        shown = names_text(names, room - cells(tail))
        if shown.startswith(names[0]):
            return shown + tail
    return names_text(names, room)


def _runs_per_tree(gate: GateResult) -> int:
    """Verify runs that saw one final tree in one box: attempts of a frozen subject all verify the same tree."""
    return (1 + gate.rule.verify_replays) * (1 if gate.live else gate.rule.attempts)


def _stopped(gate: GateResult) -> Lines:
    return [_STOPS[cause](gate) for cause in gate.stops]


def _stopped_integrity(gate: GateResult) -> str:
    return _damaged(gate.damage)


def _damaged(damage: Sequence[str]) -> str:
    more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
    return f"STOPPED       ledger damaged: {damage[0]}{more}"


def _stopped_drift(gate: GateResult) -> str:
    head = f"STOPPED       verify drift on {counted(len(gate.drifted), 'cell')} (limit {gate.rule.drift_stop}): "
    whose = [f"{task} / agent {gate.agent}" if gate.agent else task for task in gate.drifted]
    return head + names_text(whose, _room(gate) - cells(head))


def _stopped_void(gate: GateResult) -> str:
    table, _ = _some(gate)
    limit = math.floor(table.planned * Fraction(gate.rule.void_stop))
    return (
        f"STOPPED       {table.void} of {table.planned} tasks void (limit {limit}): "
        f"{void_summary(table.void_causes(), gate.agent)}"
    )


_STOPS: dict[str, Callable[[GateResult], str]] = {
    "integrity": _stopped_integrity,
    "drift": _stopped_drift,
    "void": _stopped_void,
}


def _running(gate: GateResult) -> Lines:
    table, _ = _some(gate)
    complete = table.scored + table.void
    head = f"GATE ...      {complete} of {table.planned} pairs, {counted(table.flips, 'flip')} - "
    return [head + _outlook(gate, table, complete)]


def _outlook(gate: GateResult, table: FlipTable, complete: int) -> str:
    if "open" not in gate.possible:
        return "cannot open any more"
    if "shut" not in gate.possible:
        if "no_verdict" in gate.possible:
            return "opens unless too many pairs are lost"
        if complete < table.planned:
            return f"opens whatever the last {counted(table.planned - complete, 'pair')} may show"
        return f"{counted(table.attempts_left, 'attempt')} of other rounds left"
    further = math.floor((table.planned - table.void) * gate.limit) - table.flips
    if further == 0:
        return "opens only if no further task flips" if table.flips else "opens only if no task flips"
    more = " more" if table.flips else ""
    return f"opens if at most {further}{more} {'task flips' if further == 1 else 'tasks flip'}"


def _common(gate: GateResult) -> Lines:
    """What belongs under any state: voids, half-blind pairs, an unstable agent, other rules."""
    table = gate.table
    if table is None:
        return []
    lines: Lines = []
    if gate.state in ("open", "shut", "flaky", "confounded", "running") and table.void:
        lines.append(f"void {table.void} of {table.planned}: {void_summary(table.void_causes(), gate.agent)}")
    flips, pairs = table.flips_if_conduct_fails()
    if pairs > table.scored:
        lines.append(f"if a void counted as fail for the agent that caused it: {flips} of {pairs} flipped")
    if gate.state in ("open", "shut") and 0 < table.scored < 2 * table.both_fail:
        pairs_seen = counted(table.scored, "pair")
        lines.append(f"{table.both_fail} of {pairs_seen} fail on both sides: no information from them")
    unstable = sum(task.unstable for task in table.tasks)
    if gate.live and unstable:
        tasks = counted(table.planned, "task")
        lines.append(f"agent unstable: {unstable} of {tasks} disagree with themselves in one box")
    return lines + _labels(gate, table)


def _labels(gate: GateResult, table: FlipTable) -> Lines:
    lines: Lines = []
    if 0 < table.scored < 12 and gate.state in ("open", "shut"):
        lines.append("fewer than 12 pairs: the tiers were made for 12")
    if gate.boxes is not None and gate.boxes.smallest_p is not None:
        smallest = p_text(gate.boxes.smallest_p, "smallest mid-p")
        lines.append(f"{counted(gate.boxes.pairs, 'pair')} of boxes compared: {smallest} after Holm's adjustment")
    if gate.post_hoc:
        lines.append("post hoc: this rule was not the one registered before the data")
    if gate.strict and gate.exit == 3 and gate.state in ("open", "shut", "confounded"):
        why = "envs differ beyond what is declared" if gate.state == "confounded" else "undecided at 95 %"
        lines.append(f"strict: {why}, exit 3")
    return lines


def _first(gate: GateResult, line: str) -> str:
    """The line with the agent's name before it; the gap after the state's word closes where room is short."""
    whole = _name(gate) + line
    return whole if cells(whole) <= FIRST_LINE else _name(gate) + re.sub(" {3,}", "  ", line, count=1)


def _name(gate: GateResult) -> str:
    return f"agent {fit(gate.agent, _NAME_ROOM)}: " if gate.named else ""


def _room(gate: GateResult) -> int:
    return FIRST_LINE - cells(_name(gate))


def _pair(gate: GateResult) -> str:
    return f"{gate.env_a} vs {gate.env_b}"


def _some(gate: GateResult) -> tuple[FlipTable, Fraction | None]:
    if gate.table is None:
        raise ValueError(f"a gate in state {gate.state} has a table")
    return gate.table, gate.table.rate


def _scored(gate: GateResult) -> tuple[FlipTable, Fraction]:
    table, rate = _some(gate)
    if rate is None:
        raise ValueError(f"a gate in state {gate.state} has a scored pair")
    return table, rate


_BLOCKS: dict[str, Callable[[GateResult], Lines]] = {
    "open": _open,
    "shut": _shut,
    "no_evidence": _no_evidence,
    "no_verdict": _no_verdict,
    "uninformative": _uninformative,
    "confounded": _confounded,
    "flaky": _flaky,
    "stopped": _stopped,
    "running": _running,
}
