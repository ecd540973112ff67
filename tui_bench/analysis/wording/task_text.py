"""What one task does across environments and agents, in sentences, the weightiest first.

Signs of attempts come from the caller, since a screen may be limited to ASCII.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tui_bench.analysis.state import Cell, Code, RunState
from tui_bench.analysis.wording.numbers import counted
from tui_bench.analysis.wording.void_text import void_advice, void_words

SIGNS = "·✓✗∅"
"""Sign by code: missing, pass, fail, void."""
_SIGNS_MOST = 6
_UNSCORED = ("probe", "rerun")
_EXCLUDED_ADVICE = {
    "already_solved": "choose a source on which verify fails",
    "oracle_error": "mend verify, it could not be run",
    "verify_timeout": "raise verify_timeout or make verify faster",
    "hygiene": "make verify clean up after itself",
    "oracle_invalid": "mend the oracle or the reference patch",
    "flaky": "mend the test: its verdicts differ on one tree",
}


@dataclass(frozen=True, slots=True)
class _Box:
    """One cell with its name within the task."""

    agent: str
    env: str
    cell: Cell
    attempts: int
    declared: Code

    def shown(self, signs: Sequence[str]) -> str:
        """`utc ✓✓`, or `utc 7/10` where signs would be too many."""
        if self.attempts > _SIGNS_MOST:
            return f"{self.env} {self.cell.passes()}/{self.cell.scored()}"
        return f"{self.env} {''.join(signs[self.cell.code(number)] for number in range(self.attempts))}"


def task_sentences(state: RunState, task: str, signs: Sequence[str] = SIGNS) -> list[str]:
    """Everything worth saying about a task; never empty."""
    boxes = [_box(state, task, env, agent) for agent in state.agents for env in state.env_names()]
    excluded = state.excluded.get(task)
    said: list[str] = []
    if excluded is not None:
        said += _excluded(excluded.outcome, excluded.env, excluded.reason)
        if not any(box.cell.done() for box in boxes):
            return said
    flipping = [agent for agent in state.agents if _flips(boxes, agent)]
    for agent in flipping:
        said += _flip_sentences([box for box in boxes if box.agent == agent], signs)
    said += _disagreement(boxes)
    said += [_noise(agent, boxes, signs) for agent in state.agents if agent not in flipping]
    said += _voids(boxes)
    if len(said) == said.count(""):
        said += _all_alike(boxes, "everywhere" if _complete(boxes) else "so far")
    said += _open(state, task, boxes)
    said += _beyond(boxes)
    said += _intact(state, task, boxes)
    return [sentence for sentence in said if sentence]


def _box(state: RunState, task: str, env: str, agent: str) -> _Box:
    cell = state.cell(task, env, agent)
    return _Box(agent, env, cell, max(len(cell), state.attempts), cell.code(state.rule.declared_attempt))


def _excluded(outcome: str, env: str, reason: str) -> list[str]:
    why = f": {reason}" if reason and reason != outcome else ""
    advice = _EXCLUDED_ADVICE.get(outcome)
    said = [f"Set apart before the run, {outcome} in {env}{why}.", "It is not counted anywhere."]
    return [*said, f"What to do: {advice}."] if advice else said


def _flips(boxes: Sequence[_Box], agent: str) -> bool:
    return {Code.PASS, Code.FAIL} <= {box.declared for box in boxes if box.agent == agent}


def _flip_sentences(boxes: list[_Box], signs: Sequence[str]) -> list[str]:
    """What flips, and whether it can be told from noise."""
    name = f"{boxes[0].agent} flips" if boxes[0].agent else "Flips"
    scored = sorted({box.cell.scored() for box in boxes if box.cell.scored()})
    each = f" ({scored[0]} of {boxes[0].attempts} in each)" if len(scored) == 1 else ""
    first = f"{name} with the box: {', '.join(box.shown(signs) for box in boxes)}{each}."
    flaky = [box.env for box in boxes if box.cell.flaky()]
    unsteady = [box.env for box in boxes if box.cell.unstable()]
    if flaky:
        return [first, f"Verify runs of one tree disagree ({', '.join(flaky)}): a flaky test, mend it first."]
    if unsteady:
        return [first, f"Attempts in one box differ too ({', '.join(unsteady)}), so it may be noise."]
    if scored[0] < 2:
        return [first, "With one verdict in a box, the box cannot be told from noise."]
    return [first, "Same-box attempts agree, which points to the environment, not to noise."]


def _disagreement(boxes: Sequence[_Box]) -> list[str]:
    """Agents with different declared verdicts, environments with the same split in one sentence."""
    splits: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for env in dict.fromkeys(box.env for box in boxes):
        here = [box for box in boxes if box.env == env]
        passing = tuple(box.agent for box in here if box.declared is Code.PASS)
        failing = tuple(box.agent for box in here if box.declared is Code.FAIL)
        if passing and failing:
            splits.setdefault((passing, failing), []).append(env)
    return [
        f"Agents disagree in {_listed(envs)}: {_does(passing, 'pass')}, {_does(failing, 'fail')}."
        for (passing, failing), envs in splits.items()
    ]


def _does(agents: Sequence[str], verb: str) -> str:
    third = {"pass": "passes", "fail": "fails"}[verb] if len(agents) == 1 else verb
    return f"{_listed(agents)} {third}"


def _noise(agent: str, boxes: Sequence[_Box], signs: Sequence[str]) -> str:
    own = [box for box in boxes if box.agent == agent]
    flaky = [box.env for box in own if box.cell.flaky()]
    unsteady = [box.shown(signs) for box in own if box.cell.unstable()]
    whose = f" of {agent}'s tree" if agent else ""
    if flaky:
        return f"Verify runs{whose} disagree ({', '.join(flaky)}): a flaky test, mend it first."
    if unsteady:
        return f"{f'{agent} disagrees' if agent else 'Attempts disagree'} within one box: {', '.join(unsteady)}."
    return ""


def _voids(boxes: Sequence[_Box]) -> list[str]:
    """One sentence a cause: how many, where, what was seen, what to do."""
    places: dict[str, list[str]] = {}
    for box in boxes:
        for number in range(len(box.cell)):
            if (cause := box.cell.cause(number)) is not None:
                places.setdefault(cause, []).append(" ".join(filter(None, (box.agent, box.env))))
    planned = sum(box.attempts for box in boxes)
    return [
        f"{len(where)} of {counted(planned, 'attempt')} void, {cause} ({', '.join(dict.fromkeys(where))}): "
        f"{void_words(cause)}; {void_advice(cause)}."
        for cause, where in places.items()
    ]


def _complete(boxes: Sequence[_Box]) -> bool:
    return all(box.cell.done() >= box.attempts for box in boxes)


def _all_alike(boxes: Sequence[_Box], where: str) -> list[str]:
    passes = sum(box.cell.passes() for box in boxes)
    scored = sum(box.cell.scored() for box in boxes)
    if not scored:
        return []
    if passes == scored:
        return [f"Passes {where}: {passes} of {counted(scored, 'attempt')}."]
    if not passes:
        return [f"Fails {where}, {counted(scored, 'attempt')}: nothing here tells agents or environments apart."]
    return [f"Passes {passes} of {counted(scored, 'attempt')}."]


def _open(state: RunState, task: str, boxes: Sequence[_Box]) -> list[str]:
    running = sum(one.key[0] == task and one.role == "planned" for one in state.running.values())
    planned = sum(box.attempts for box in boxes)
    left = planned - sum(box.cell.done() for box in boxes) - running
    if running:
        more = f", {left} left" if left > 0 else ""
        return [f"{running} of {counted(planned, 'attempt')} running{more}."]
    if left <= 0:
        return []
    if state.over:
        return [f"{left} of {counted(planned, 'attempt')} not run."]
    return [f"{left} of {counted(planned, 'attempt')} left."]


def _beyond(boxes: Sequence[_Box]) -> list[str]:
    roles = [probe.role for box in boxes for probe in box.cell.probes]
    lost = sum(len(box.cell.superseded) for box in boxes)
    again = [f"{counted(lost, 'lost attempt')} run again."] if lost else []
    return again + [f"{counted(roles.count(role), role)}, not scored." for role in _UNSCORED if role in roles]


def _intact(state: RunState, task: str, boxes: Sequence[_Box]) -> list[str]:
    """Said only where every verdict stands on the oracle: an attempt that was void may not have been looked at."""
    row = state.tasks.get(task)
    done = sum(box.cell.done() for box in boxes)
    scored = sum(box.cell.scored() for box in boxes)
    return [f"Oracle intact in all {done}."] if row is not None and row.oracle_sha and 1 < done == scored else []


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
