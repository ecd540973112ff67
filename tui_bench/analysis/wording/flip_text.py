"""The flip table as text, the line in the published format, and what the table cannot show."""

from __future__ import annotations

from fractions import Fraction

from tui_bench.analysis.dimensions import Difference, difference
from tui_bench.analysis.flip import FlipTable, FlipTask, Side
from tui_bench.analysis.reruns import rerun_of
from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.stats.repeats import escape
from tui_bench.analysis.wording.numbers import cells, counted, names_text, pad
from tui_bench.analysis.wording.rerun_text import rerun_lines

_TASK_WIDTH = 24
_TASK_WIDTH_MOST = 48
_SIDE_A = 10
_SIDE_B = 11
_MARKS = {"flip": "->", "same": "=", "both_fail": "=", "void": "?", "missing": "?"}
_NAMES_ROOM = 60


def flip_lines(state: RunState, table: FlipTable, gate: Fraction | None = None) -> list[str]:
    """One block: the table, what it cannot show, the counts, and last the published summary line."""
    limit = Fraction(state.rule.flip_rate) if gate is None else gate
    several = len(state.agents) > 1 or len(state.env_names()) > 2
    lines = [f"{table.agent or 'no agent'}: {table.env_a} vs {table.env_b}"] if several else []
    lines += _rows(table)
    again = rerun_of(state, table)
    lines += [] if again is None else rerun_lines(again, float(Fraction(state.rule.alpha)))
    lines += limits_lines(state, table)
    if gate is not None and gate != Fraction(state.rule.flip_rate):
        lines.append("post hoc: this gate was not the one registered before the data")
    return [*lines, counts_line(table), summary_line(table, limit)]


def counts_line(table: FlipTable) -> str:
    """`planned=12 scored=10 void=1 missing=1 flips=2 (1 down, 1 up)`."""
    return (
        f"planned={table.planned} scored={table.scored} void={table.void} missing={table.missing} "
        f"flips={table.flips} ({table.down} down, {table.up} up)"
    )


def summary_line(table: FlipTable, limit: Fraction) -> str:
    """The published line `tasks=%d flips=%d flip_rate=%.3f gate=%.2f`; the rate is n/a where nothing was scored."""
    rate = "n/a" if table.rate is None else f"{float(table.rate):.3f}"
    return f"tasks={table.scored} flips={table.flips} flip_rate={rate} gate={float(limit):.2f}"


def limits_lines(state: RunState, table: FlipTable) -> list[str]:
    """What no flip table can show, and what this one leaves open."""
    live = state.subject == "agent"
    steady = sum(not (task.a.flaky or task.b.flaky) for task in table.tasks if task.a.scored or task.b.scored)
    runs = 1 + state.rule.verify_replays
    if not live:
        runs *= state.rule.attempts
    lines = [
        "limits of this table: " + _task_set(state, table),
        "  " + _dimensions(difference(state, table.env_a, table.env_b)),
        "  a binary test is blind to what it does not check",
    ]
    if steady and runs > 1:
        missed = round(float(escape(Fraction(1, 3), runs)) * 100)
        seen = f"{counted(steady, 'task')}: no flake seen"
        lines.append(f"  {seen}; a 1-in-3 flake escapes {runs} runs {missed} % of the time")
    elif steady:
        lines.append("  flakiness unknown: verify ran once on each tree")
    if table.scored:
        lines.append("  intervals are exact (Clopper-Pearson); P(rate <= gate) is under a uniform prior")
    return lines + screening_lines(state)


def screening_lines(state: RunState) -> list[str]:
    """Tasks that left the headline set before any attempt, each with its reason; empty where none did."""
    if not state.excluded:
        return []
    total = len(state.task_names())
    head = f"set apart before the run, not counted: {len(state.excluded)} of {counted(total, 'task')}"
    return [head, *(f"  {one.task}: {one.outcome} in {one.env}: {one.reason}" for one in state.excluded.values())]


def _task_set(state: RunState, table: FlipTable) -> str:
    clusters = {row.cluster for row in state.tasks.values() if row.cluster}
    where = counted(len(clusters), "declared cluster") if clusters else "one task set"
    return f"{counted(table.planned, 'task')} of {where}; other tasks may flip more or less"


def _dimensions(differs: Difference) -> str:
    if not differs.known:
        return "facts of the environments unknown: what they differ in cannot be told"
    names = names_text(differs.undeclared, _NAMES_ROOM)
    listed = f": {names}" if names else ""
    if differs.declared is None:
        return f"no dimension declared; {counted(len(differs.undeclared), 'fact')} known to differ{listed}"
    return f"{counted(len(differs.undeclared), 'undeclared dimension')} beside {differs.declared}{listed}"


def _rows(table: FlipTable) -> list[str]:
    names = [cells(task.task) for task in table.tasks]
    task_width = max([_TASK_WIDTH, *(width for width in names if width <= _TASK_WIDTH_MOST)]) + 1
    sides = [(_side_text(task.a), _side_text(task.b)) for task in table.tasks]
    width_a = max([_SIDE_A, cells(table.env_a) - 1, *(cells(a) + 2 for a, _ in sides)])
    width_b = max([_SIDE_B, *(cells(b) + 3 for _, b in sides)])
    header = pad("task", task_width) + pad(table.env_a, width_a + 3) + table.env_b
    rows = [header]
    for task, (a, b) in zip(table.tasks, sides, strict=True):
        line = f"{pad(task.task, task_width)}{pad(a, width_a)}{pad(_mark(task), 2)} {pad(b, width_b)}{_note(task)}"
        rows.append(line.rstrip())
    return rows


def _side_text(side: Side) -> str:
    if side.code is Code.VOID:
        return "void"
    if side.code is Code.MISSING:
        return "-"
    word = "PASS" if side.code is Code.PASS else "FAIL"
    return f"{word} {side.passes}/{side.scored}"


def _mark(task: FlipTask) -> str:
    if task.mark == "flip" and task.unstable:
        return "~>"
    if task.mark in ("same", "both_fail") and task.unstable:
        return "~="
    return _MARKS[task.mark]


def _note(task: FlipTask) -> str:
    if task.mark == "void":
        causes = dict.fromkeys(_cause(side) for side in (task.a, task.b) if side.code is Code.VOID)
        return "not counted: " + "; ".join(causes)
    if task.mark == "missing":
        return "not run"
    notes = ["flip"] if task.mark == "flip" else []
    if task.mark == "both_fail" and not task.unstable:
        notes.append("both fail: no information")
    if task.unstable:
        notes.append("same-box disagreement")
    if task.a.flaky or task.b.flaky:
        notes.append("flaky test: same tree, different verdicts")
    return ", ".join(notes)


def _cause(side: Side) -> str:
    code = f" (exit {side.exit_code})" if side.exit_code is not None else ""
    return f"{side.cause}{code}"
