"""The gate: what a flip table allows one to say, by the registered rule and in a fixed order of precedence.

1 stopped (ledger damaged) - 2 no evidence, no verdict - 3 stopped (verify drift) - 4 stopped (void share) - 5 flaky
test - 6 confounded - 7 uninformative - 8 open or shut. The first that applies is the state, the others are kept in
`also`. While attempts are still to come, 2 and 8 hold only where no course of the rest can change them, and a run that
is not over never opens a gate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from tui_bench.analysis import wording
from tui_bench.analysis.dimensions import Difference, difference
from tui_bench.analysis.flip import FlipTable
from tui_bench.analysis.reruns import RerunVerdict, rerun_of
from tui_bench.analysis.state import RunState
from tui_bench.analysis.stats.paired import CochranQ
from tui_bench.analysis.stats.possible import Possible, verdicts_possible
from tui_bench.analysis.stats.proportion import lower_bound, upper_bound
from tui_bench.ledger.rows import Rule

GateState = Literal[
    "open", "shut", "no_evidence", "no_verdict", "uninformative", "confounded", "flaky", "stopped", "running"
]
StopCause = Literal["integrity", "drift", "void"]

EXITS: dict[GateState, int] = {
    "open": 0, "shut": 1, "no_evidence": 3, "no_verdict": 3, "uninformative": 3, "running": 3, "stopped": 4, "flaky": 5,
}  # fmt: skip
"""`confounded` has none of its own: it keeps that of the state below it."""
EXIT_ORDER = (2, 4, 5, 3, 1, 0)
"""The first of these that any gate of a run has is the exit code of the run."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """More than two environments: how many, Cochran's Q over them, and the smallest Holm-adjusted p of all pairs."""

    count: int
    q: CochranQ | None
    pairs: int
    smallest_p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One agent's gate: `line` is its sentence, `lines` the whole block, `exit` the code it stands for."""

    agent: str
    env_a: str | None
    env_b: str | None
    state: GateState
    also: tuple[GateState, ...]
    """Further states that apply, in order of precedence; never `state` itself, except stopped for two causes."""
    stops: tuple[StopCause, ...]
    exit: int
    mid_run: bool
    """The run is not over and attempts of this table are still to come."""
    conclusive: bool
    """The one-sided 95 % exact bound lies on the same side of the gate as the rate."""
    table: FlipTable | None
    """None where the ledger holds no pair of environments."""
    rule: Rule
    limit: Fraction
    needed: int
    """Pairs that must be scored."""
    possible: frozenset[Possible]
    live: bool
    """The subject is a live agent: its attempts may disagree without any fault of the test."""
    flaky: tuple[str, ...]
    drifted: tuple[str, ...]
    steady: int
    """Tasks seen at least twice on one tree without a disagreement."""
    differs: Difference | None
    damage: tuple[str, ...]
    post_hoc: bool
    """The rule is not the one registered before the data."""
    strict: bool
    boxes: Boxes | None = None
    reran: bool = False
    """Flipped tasks of this table are registered for fresh attempts."""
    rerun_says: RerunVerdict | None = None
    """Verdict of those attempts; None before the last of them has its row."""
    named: bool = False
    """The sentence begins with the agent's name, because the run has several."""

    @property
    def line(self) -> str:
        """The gate in one line of at most 80 cells."""
        return wording.gate_line(self)

    @property
    def lines(self) -> list[str]:
        """The gate's block: its line and what belongs under it, indented by two."""
        return wording.gate_lines(self)

    def lines_with(self, again: Sequence[str]) -> list[str]:
        """The block with what the re-run flips say, right below the line that counts the flips."""
        return wording.gate_lines(self, again)


def gate(table: FlipTable, rule: Rule, state: RunState, *, strict: bool = False) -> GateResult:
    """Judge one table. `rule` may differ from the registered one; the result then says so."""
    limit = Fraction(rule.flip_rate)
    needed = _pairs_needed(rule, table.planned)
    live = state.subject == "agent"
    drifted = tuple(task.task for task in table.tasks if task.a.flaky or task.b.flaky)
    flaky = tuple(
        task.task for task in table.tasks if task.a.flaky or task.b.flaky or (not live and task.unstable)
    )
    stops = _stops(table, rule, state, drifted)
    possible = verdicts_possible(table.scored, table.flips, table.void, table.planned, needed, limit)
    differs = difference(state, table.env_a, table.env_b)
    mid_run = not state.over and table.attempts_left > 0
    states = _states(table, limit, needed, possible, stops, bool(flaky), differs.confounded, mid_run)
    reran = _reran(table, state)
    again = rerun_of(state, table) if reran else None
    conclusive = not (mid_run and table.missing) and _conclusive(table, limit)
    return GateResult(
        agent=table.agent, env_a=table.env_a, env_b=table.env_b, state=states[0], also=tuple(states[1:]),
        stops=stops, exit=_exit(states, conclusive, strict), mid_run=mid_run, conclusive=conclusive, table=table,
        rule=rule, limit=limit, needed=needed, possible=possible, live=live, flaky=flaky, drifted=drifted,
        steady=_steady(table, rule, live, flaky), differs=differs, damage=tuple(state.damage),
        post_hoc=_post_hoc(table, rule, state), strict=strict, reran=reran,
        rerun_says=None if again is None else again.verdict,
    )  # fmt: skip


def no_gate(state: RunState, agent: str, *, strict: bool = False) -> GateResult:
    """The result for a ledger with fewer than two environments: there is nothing to compare."""
    states: list[GateState] = ["stopped", "no_evidence"] if state.damage else ["no_evidence"]
    return GateResult(
        agent=agent, env_a=next(iter(state.env_names()), None), env_b=None, state=states[0], also=tuple(states[1:]),
        stops=("integrity",) if state.damage else (), exit=EXITS[states[0]], mid_run=not state.over, conclusive=False,
        table=None, rule=state.rule, limit=Fraction(state.rule.flip_rate), needed=1, possible=frozenset(), live=False,
        flaky=(), drifted=(), steady=0, differs=None, damage=tuple(state.damage), post_hoc=False, strict=strict,
    )  # fmt: skip


def worst(results: Sequence[GateResult], boxes: Boxes | None) -> GateResult:
    """The result that decides for several pairs of environments: by order of exit codes, then by flip rate."""
    chosen = min(results, key=lambda one: (EXIT_ORDER.index(one.exit), -(_rate(one) or 0)))
    return replace(chosen, boxes=boxes)


def exit_of(results: Sequence[GateResult]) -> int:
    """Exit code of several gates: the first present of 2, 4, 5, 3, 1, 0; 3 where there is no gate at all."""
    present = {one.exit for one in results}
    return next((code for code in EXIT_ORDER if code in present), 3)


def gate_json(result: GateResult) -> dict[str, object]:
    """One entry of `gates` in `--json`."""
    pair = None if result.env_b is None else [result.env_a, result.env_b]
    return {"agent": result.agent or None, "pair": pair, "state": result.state, "exit": result.exit}


def _states(
    table: FlipTable,
    limit: Fraction,
    needed: int,
    possible: frozenset[Possible],
    stops: Sequence[StopCause],
    flaky: bool,
    confounded: bool,
    mid_run: bool,
) -> list[GateState]:
    """Every state that applies, by precedence; the last one is always the reading of the pairs themselves."""
    found: list[GateState] = ["stopped"] if "integrity" in stops else []
    pairs = _pairs_state(table, needed, possible, mid_run)
    if pairs is not None:
        found.append(pairs)
    if "drift" in stops or "void" in stops:
        found.append("stopped")
    if flaky:
        found.append("flaky")
    if confounded:
        found.append("confounded")
    if pairs is not None:
        return list(dict.fromkeys(found))
    if mid_run:
        found.append("shut" if possible == {"shut"} else "running")
        return list(dict.fromkeys(found))
    opens = table.rate is not None and table.rate <= limit
    # A box in which nothing passes cannot lose a pass: it must not open the gate. It can very well shut it.
    if opens and (table.passes_a == 0 or table.passes_b == 0):
        found.append("uninformative")
    else:
        found.append("open" if opens else "shut")
    return list(dict.fromkeys(found))


def _pairs_state(
    table: FlipTable, needed: int, possible: frozenset[Possible], mid_run: bool
) -> Literal["no_evidence", "no_verdict"] | None:
    if table.planned == 0:
        return "no_evidence"
    if mid_run:
        return "no_verdict" if possible == {"no_verdict"} else None
    if table.scored == 0:
        return "no_evidence"
    return "no_verdict" if table.scored < needed else None


def _exit(states: Sequence[GateState], conclusive: bool, strict: bool) -> int:
    if states[0] == "confounded":
        below = [state for state in states if state != "confounded"]
        return 3 if strict else EXITS[below[0]]
    if states[0] in ("open", "shut") and strict and not conclusive:
        return 3
    return EXITS[states[0]]


def _stops(table: FlipTable, rule: Rule, state: RunState, drifted: Sequence[str]) -> tuple[StopCause, ...]:
    found: list[StopCause] = ["integrity"] if state.damage else []
    if rule.drift_stop is not None and len(drifted) > rule.drift_stop:
        found.append("drift")
    if table.void > table.planned * Fraction(rule.void_stop):
        found.append("void")
    return tuple(found)


def _conclusive(table: FlipTable, limit: Fraction) -> bool:
    if table.rate is None:
        return False
    if table.rate <= limit:
        return upper_bound(table.flips, table.scored) <= limit
    return lower_bound(table.flips, table.scored) >= limit


def _pairs_needed(rule: Rule, planned: int) -> int:
    share = Fraction(rule.min_pairs)
    return max(1, math.ceil(share * planned if share <= 1 else share))


def _steady(table: FlipTable, rule: Rule, live: bool, flaky: Sequence[str]) -> int:
    wavering = frozenset(flaky)
    return sum(
        task.task not in wavering and (rule.verify_replays > 0 or (not live and max(task.a.scored, task.b.scored) > 1))
        for task in table.tasks
        if task.a.scored or task.b.scored
    )


def _reran(table: FlipTable, state: RunState) -> bool:
    flipped = [task.task for task in table.tasks if task.mark == "flip"]
    return any((name, table.env_a, table.agent) in state.registered for name in flipped)


def _post_hoc(table: FlipTable, rule: Rule, state: RunState) -> bool:
    return state.run is not None and (rule != state.run.rule or table.attempt != state.run.rule.declared_attempt)


def _rate(result: GateResult) -> Fraction | None:
    return None if result.table is None else result.table.rate
