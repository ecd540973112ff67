"""The words of the side panes: controls, void reasons, tally. Content for a width in cells, every foreign name cleaned.

A number stands with its n or not at all; what is unknown reads `null`; what nothing was measured for is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from tui_bench.analysis.state import RunState
from tui_bench.analysis.stats.proportion import Interval
from tui_bench.analysis.tally import Tally, VoidTasks
from tui_bench.analysis.wording import void_words
from tui_bench.analysis.wording.numbers import counted, limit_text, short_percent
from tui_bench.tui import safe
from tui_bench.tui.clock import age, time_range
from tui_bench.tui.digest import Digest
from tui_bench.tui.figures import NULL, count, duration
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.widgets.line import fitted, fitted_middle
from tui_bench.tui.widgets.status import Facts

LABEL = 10
"""Cells of a label in Controls, its gap included."""
COLUMN = 36
"""Cells of one column of Controls where there is room for several."""
GAP = 2
NAME_LEAST = 8
WIDE_TALLY = 62
"""Cells that the columns of the tally take in one table, names aside."""


def controls(state: RunState, facts: Facts, width: int, glyphs: Glyphs) -> Content:
    """What is held fixed, and how far the run is."""
    run = state.run
    if run is None:
        return Content.assemble(("no run row yet", "$bench-muted"))
    rule = run.rule
    drift = "not asked for" if rule.drift_stop is None else f"max {rule.drift_stop}"
    rows: list[tuple[str, Iterable[str]]] = [
        ("study", [run.study_id]),
        ("subject", [run.subject]),
        ("dimension", [run.dimension or "none declared"]),
        ("agents", _agents(state)),
        ("envs", [f"{name} {row.env_kind}" for name, row in state.environments.items()]),
        ("attempts", [f"{state.attempts}, #{rule.declared_attempt + 1} counts"]),
        ("replays", [f"{rule.verify_replays} of each verify"]),
        ("gate", [f"flips <= {limit_text(Fraction(rule.flip_rate))}"]),
        ("pairs", [f">= {_share(rule.min_pairs)} scored"]),
        ("voids", [f"stop above {_share(rule.void_stop)}"]),
        ("drift", [drift]),
        ("order", [run.order_policy]),
        ("seed", [str(run.order_seed)]),
        ("frozen", ["damaged" if state.damage else "ok"]),
        ("", [""]),
        ("jobs", [f"{facts.running} running of {facts.jobs}"]),
        ("queue", [str(max(0, facts.planned - facts.done - facts.running))]),
    ]
    if facts.elapsed_s is not None:
        rows.append(("elapsed", [age(facts.elapsed_s)]))
    if facts.left is not None:
        rows.append(("ETA", [time_range(*facts.left)]))
    count = max(1, width // COLUMN)
    room = (width - (count - 1) * GAP) // count
    lines = [line for label, values in rows for line in _labelled(label, values, room, glyphs)]
    return _columns(lines, count, room) if count > 1 else Content("\n").join(lines)


def _columns(lines: list[Content], count: int, room: int) -> Content:
    """Lines in newspaper columns of `room` cells, for a pane that is wide and low."""
    lines = [line for line in lines if line.plain.strip()]
    height = -(-len(lines) // count)
    rows = []
    for place in range(height):
        found = [lines[at] for at in range(place, len(lines), height)]
        padded = [Content.assemble(line, " " * (room - line.cell_length + GAP)) for line in found[:-1]]
        rows.append(Content.assemble(*padded, found[-1]))
    return Content("\n").join(rows)


def _agents(state: RunState) -> list[str]:
    known = state.run.agents if state.run else []
    named = [" ".join(part for part in (one.name, one.version or one.model or one.agent_kind) if part) for one in known]
    return named or ["none"]


def _share(text: str) -> str:
    """A rule's share in per cent, or a plain number of pairs."""
    share = Fraction(text)
    return short_percent(share) if share <= 1 else str(share)


def _labelled(label: str, values: Iterable[str], width: int, glyphs: Glyphs) -> list[Content]:
    """A label and its values, one below the other."""
    room = max(1, width - LABEL)
    colour = "$bench-fail" if label == "frozen" and "damaged" in values else "$foreground"
    return [
        Content.assemble(
            (f"{label if place == 0 else '':<{LABEL}}", "$bench-muted"),
            (fitted(safe.text(value), room, glyphs.ellipsis), colour),
        )
        for place, value in enumerate(values)
    ]


def voids(found: Digest, width: int, glyphs: Glyphs) -> Content:
    """Causes that have rows, each with the first place, and what the limit is."""
    if not found.reasons:
        return Content.assemble(("no attempt is void", "$bench-muted"))
    room = max([cell_len(reason.cause) for reason in found.reasons])
    number = max(len(str(reason.count)) for reason in found.reasons)
    lines: list[Content] = []
    for reason in found.reasons:
        task, env, agent = reason.first
        left = width - room - number - 5
        where = " ".join(part for part in (safe.text(agent), safe.text(env)) if part)
        name = fitted_middle(safe.text(task), max(NAME_LEAST, left - cell_len(where) - 1), glyphs.ellipsis)
        lines.append(Content.assemble(
            (glyphs.void, "$bench-void"), " ", (f"{reason.cause:<{room}}", "bold"), f" {reason.count:>{number}} ",
            (fitted(f"{name} {where}", max(0, left), glyphs.ellipsis), "$bench-muted"),
        ))  # fmt: skip
        lines += [
            Content.assemble("  ", (line, "$bench-muted")) for line in wrap(void_words(reason.cause), max(8, width - 2))
        ]
    return Content("\n").join([*lines, *(_limit(one, width, glyphs) for one in found.void_tasks if one.tasks)])


def _limit(one: VoidTasks, width: int, glyphs: Glyphs) -> Content:
    whose = f"{safe.text(one.agent)}: " if one.agent else ""
    said = f"{whose}void in {one.tasks} of {counted(one.planned, 'task')}, limit {one.limit}"
    colour = "$bench-fail" if one.tasks > one.limit else "$bench-muted"
    return Content.assemble((fitted(said, width, glyphs.ellipsis), colour))


def tally(found: Digest, attempts: int, declared: int, width: int, glyphs: Glyphs) -> Content:
    """Tasks by their declared attempt, intervals by task, and what it cost."""
    rows = found.tallies
    if not any(row.scored or row.void for row in rows):
        return Content.assemble(("nothing finished yet", "$bench-muted"))
    first = f"#{declared + 1} of {attempts}" if attempts > 1 else "tasks"
    spread = f"all {attempts}" if attempts > 1 else "Wilson"
    named = max(cell_len(_name(row)) for row in rows)
    if width >= named + WIDE_TALLY:
        heads = ("pass", "fail", "void", "n", "rate", spread, "95 %", "tokens/solved", "p50 wall")
        whole = [(row, _counts(row) + _spread(row, attempts)[:2] + _costs(row)) for row in rows]
        return _table(first, heads, whole, width, glyphs)
    parts = [
        _table(first, ("pass", "fail", "void", "n", "rate"), [(row, _counts(row)) for row in rows], width, glyphs),
        _table(spread, ("mean", "95 %", "n"), [(row, _spread(row, attempts)) for row in rows], width, glyphs),
        _table(first, ("tokens/solved", "p50 wall"), [(row, _costs(row)) for row in rows], width, glyphs),
    ]
    return Content("\n\n").join(parts)


def legend(width: int, glyphs: Glyphs) -> Content:
    """The signs, as many a line as fit."""
    signs = (
        (glyphs.passed, "pass", "bench-pass"), (glyphs.failed, "fail", "bench-fail"),
        (glyphs.void, "void", "bench-void"), (glyphs.flaky, "flaky", "bench-fail"),
        (glyphs.running, "running", "bench-running"), (glyphs.queued, "queued", "bench-muted"),
        (glyphs.absent, "not run", "bench-muted"),
        (glyphs.flip, "flips", "accent"), (glyphs.unequal, "agents differ", "accent"),
    )  # fmt: skip
    lines: list[list[Content]] = [[]]
    used = 0
    for sign, word, colour in signs:
        need = len(sign) + len(word) + 2
        if lines[-1] and used + need > width + 1:
            lines.append([])
            used = 0
        lines[-1].append(Content.assemble((sign, f"${colour}"), (f" {word}", "$bench-muted")))
        used += need
    return Content("\n").join(Content(" ").join(line) for line in lines)


def _name(row: Tally) -> str:
    return " ".join(safe.text(part) for part in (row.agent, row.env) if part)


def _counts(row: Tally) -> tuple[str, ...]:
    rate = NULL if row.rate is None else _point(row.rate)
    return str(row.passed), str(row.failed), str(row.void), str(row.scored), rate


def _spread(row: Tally, attempts: int) -> tuple[str, ...]:
    """Mean, interval, n. With one attempt a task the mean is the rate, and Wilson's interval belongs to it."""
    interval = row.mean_interval if attempts > 1 else row.rate_interval
    mean = NULL if row.mean is None else _point(row.mean)
    return mean, NULL if interval is None else _between(interval), str(row.means)


def _costs(row: Tally) -> tuple[str, ...]:
    spent = row.tokens_per_solved
    wall = NULL if row.wall_p50_ms is None else (">=" if row.wall_at_least else "") + duration(row.wall_p50_ms)
    return NULL if spent is None else count(float(spent)), wall


def _table(
    title: str, heads: Sequence[str], rows: Sequence[tuple[Tally, tuple[str, ...]]], width: int, glyphs: Glyphs
) -> Content:
    """Right-aligned columns behind the names, which take what is left. `n` that is 0 and `null` are dim."""
    widths = [max(len(head), *(len(values[place]) for _, values in rows)) for place, head in enumerate(heads)]
    room = max(NAME_LEAST, width - sum(widths) - len(widths))
    name = min(room, max(cell_len(_name(row)) for row, _ in rows))
    top = set_cell_size(title, name) + "".join(
        f" {head:>{column}}" for head, column in zip(heads, widths, strict=True)
    )
    lines = [Content.assemble((top, "$bench-muted"))]
    for row, values in rows:
        named = fitted_middle(_name(row), name, glyphs.ellipsis)
        cells = [
            (f" {value:>{column}}", "$bench-muted" if value in (NULL, "0") else "$foreground")
            for value, column in zip(values, widths, strict=True)
        ]
        lines.append(Content.assemble(set_cell_size(named, name), *cells))
    return Content("\n").join(lines)


def _point(rate: Fraction | float) -> str:
    """`.750`, `1.00`: four cells."""
    return f"{float(rate):.3f}".removeprefix("0") if rate < 1 else "1.00"


def _between(found: Interval) -> str:
    return " to ".join(f"{end:.2f}".removeprefix("0") if end < 0.995 else "1.0" for end in found)
