"""What an attempt took and what it was, in lines: time by phase beside its cell's other attempts, memory, identity.

Only what rows hold is drawn. Unknown is written `null`; a limit is named only where the ledger names one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from tui_bench.analysis.state import RunState
from tui_bench.ledger.rows import AttemptRow, PhasesMs
from tui_bench.tui import safe
from tui_bench.tui.glyphs import Glyphs

LABEL = 10
GAP = "   "
PHASES = ("prepare", "agent", "collect", "verify", "replays")
BARS_MOST = 8
"""Attempts of a cell whose bars are drawn; the chosen one is always among them."""
_TONES = {"prepare": "$bench-muted", "agent": "$bench-running", "collect": "$bench-muted", "verify": "$bench-pass",
          "replays": "$accent"}  # fmt: skip
_BLOCKS = {"prepare": "░", "agent": "█", "collect": "░", "verify": "▓", "replays": "▒"}
_LETTERS = {"prepare": ".", "agent": "#", "collect": ".", "verify": "=", "replays": "-"}
_HASH = 16
_OPEN = re.compile(r"[\w@%+=:,./-]*\$(?:ORACLE_DIR|REPO_DIR)[\w@%+=:,./-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sibling:
    """An attempt of the same cell, by its row's place in the ledger."""

    label: str
    offset: int
    chosen: bool


Shown = list[tuple[Sibling, AttemptRow]]
"""Those whose rows have been read."""


def resource_lines(
    state: RunState,
    row: AttemptRow,
    siblings: Sequence[Sibling],
    row_at: Callable[[int], AttemptRow | None],
    width: int,
    glyphs: Glyphs,
) -> list[Content]:
    """All lines for one attempt; none is longer than `width` where its own text can be cut."""
    shown = [(one, found) for one in _near(siblings) if (found := row_at(one.offset)) is not None]
    lines = _phase_lines(row, width, glyphs)
    lines += _bars(shown, width, glyphs)
    lines += _measured(state, row, shown, width)
    lines += [Content("")]
    lines += _identity(state, row, width)
    return lines


def seconds(ms: int | None) -> str:
    """`0.40 s`, `48 s`, `12:05`; `null` where it is not known."""
    if ms is None:
        return "null"
    if ms < 9_995:
        return f"{ms / 1000:.2f} s"
    return f"{ms / 1000:.0f} s" if ms < 600_000 else f"{ms // 60_000}:{ms // 1000 % 60:02} min"


def size(count: int | None) -> str:
    """Bytes as `16.7 MB`; `null` where they are not known."""
    if count is None:
        return "null"
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} bytes"


def tokens(count: int | None) -> str:
    """`38.1k`, `512`, `null`."""
    if count is None:
        return "null"
    for unit, least in (("M", 10**6), ("k", 10**3)):
        if count >= least:
            return f"{count / least:.1f}{unit}"
    return str(count)


def command_line(command: list[str] | str) -> str:
    """A verify command as one types it: words that name a folder of the attempt stay open to the shell."""
    if isinstance(command, str):
        return command
    return " ".join(word if _OPEN.fullmatch(word) else shlex.quote(word) for word in command)


def _near(siblings: Sequence[Sibling]) -> list[Sibling]:
    at = next((place for place, one in enumerate(siblings) if one.chosen), 0)
    first = max(0, min(at - BARS_MOST // 2, len(siblings) - BARS_MOST))
    return list(siblings[first : first + BARS_MOST])


def _labelled(label: str, *parts: Content | str | tuple[str, str]) -> Content:
    return Content.assemble((f"{label:<{LABEL}}", "$bench-muted"), *parts)


def _flowed(label: str, parts: Sequence[Content | str], width: int) -> list[Content]:
    """Parts side by side, on as many lines as they need; lines after the first have no label."""
    lines: list[Content] = []
    line = Content("")
    for part in parts:
        piece = part if isinstance(part, Content) else Content(part)
        if line.cell_length and line.cell_length + len(GAP) + piece.cell_length > width - LABEL:
            lines.append(line)
            line = Content("")
        line = Content.assemble(line, GAP, piece) if line.cell_length else piece
    return [_labelled("" if number else label, one) for number, one in enumerate([*lines, line])]


def _phase_lines(row: AttemptRow, width: int, glyphs: Glyphs) -> list[Content]:
    signs = _signs(glyphs)
    took = [(phase, ms) for phase in PHASES if (ms := _took(row.phases_ms, phase)) is not None]
    parts = [Content.assemble((signs[phase], _TONES[phase]), f" {phase} {seconds(ms)}") for phase, ms in took]
    return _flowed("wall", [Content(seconds(row.wall_ms)), *parts], width)


def _signs(glyphs: Glyphs) -> dict[str, str]:
    return _LETTERS if glyphs.passed.isascii() else _BLOCKS


def _took(phases: PhasesMs, phase: str) -> int | None:
    value: int | None = getattr(phases, phase)
    return value


def _bars(shown: Shown, width: int, glyphs: Glyphs) -> list[Content]:
    """One bar an attempt of the cell, cut by phase, all to one scale."""
    longest = max((row.wall_ms or 0 for _, row in shown), default=0)
    room = width - LABEL - 12
    if longest <= 0 or room < 8:
        return []
    return [_bar(one, row, longest, room, glyphs) for one, row in shown]


def _bar(one: Sibling, row: AttemptRow, longest: int, room: int, glyphs: Glyphs) -> Content:
    signs, scale = _signs(glyphs), room / longest
    parts: list[tuple[str, str]] = []
    drawn, passed = 0, 0
    for phase in PHASES:
        passed += _took(row.phases_ms, phase) or 0
        cells = min(room, round(passed * scale)) - drawn
        parts.append((signs[phase] * cells, _TONES[phase]))
        drawn += cells
    ended = min(room, max(drawn, round((row.wall_ms or 0) * scale)))
    parts.append((glyphs.queued * (ended - drawn), "$bench-muted"))
    return Content.assemble(_sibling_label(one, glyphs), *parts, f" {seconds(row.wall_ms)}")


def _sibling_label(one: Sibling, glyphs: Glyphs) -> tuple[str, str]:
    mark = glyphs.cursor if one.chosen else " "
    return f"{mark} {one.label:<{LABEL - 2}}", "bold" if one.chosen else "$bench-muted"


def _measured(state: RunState, row: AttemptRow, shown: Shown, width: int) -> list[Content]:
    """Processor time, memory, processes, load: this attempt's number, its limit, the range of its cell."""
    took, used = row.resources, [one.resources for _, one in shown]
    cpu_of = [one.cpu_ms for one in used if one.cpu_ms is not None]
    peak_of = [one.peak_rss_bytes for one in used if one.peak_rss_bytes is not None]
    cpus, memory = _allowed(state, row, "setting.cpus", ""), _allowed(state, row, "setting.memory_mb", " MB")
    cpu = f"{seconds(took.cpu_ms)}{_share(took.cpu_ms, row.wall_ms, cpus)}"
    load = "null" if row.host_load is None else f"{row.host_load:.1f} a core"
    cpu_range = _range(seconds(min(cpu_of)), seconds(max(cpu_of))) if cpu_of else []
    peak_range = _range(size(min(peak_of)), size(max(peak_of))) if peak_of else []
    processes = [f"peak {_number(took.peak_processes)}", f"left over {_number(took.left_over_processes)}"]
    return [
        *_flowed("cpu", [cpu, *cpu_range], width),
        *_flowed("memory", [f"peak {size(took.peak_rss_bytes)}{memory}", *peak_range], width),
        *_flowed("processes", [*processes, f"host load {load} when it began"], width),
        *_flowed("enforced", _pairs(row.enforced), width),
    ]


def _share(cpu_ms: int | None, wall_ms: int | None, allowed: str) -> str:
    return f", {cpu_ms / wall_ms:.1f}{allowed} cpus on average" if cpu_ms is not None and wall_ms else ""


def _allowed(state: RunState, row: AttemptRow, fact: str, unit: str) -> str:
    """` of 2048 MB` where the environment has such a setting."""
    env = state.environments.get(row.env or "")
    value = env.facts.get(fact, "unset") if env is not None else "unset"
    return f" of {safe.text(value)}{unit}" if value != "unset" else ""


def _range(least: str, most: str) -> list[Content]:
    """The cell's own range, which says whether this attempt is an odd one."""
    return [Content.assemble((f"{least} to {most} in this cell", "$bench-muted"))] if least != most else []


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _pairs(values: dict[str, str]) -> list[str]:
    return [f"{safe.text(name)} {safe.text(means)}" for name, means in sorted(values.items())] or ["nothing"]


def _identity(state: RunState, row: AttemptRow, width: int) -> list[Content]:
    env = state.environments.get(row.env or "")
    settings = env.variables.items() if env is not None else ()
    parts: dict[str, list[str]] = {
        "exit": [f"agent {_ended(row.agent_exit, row.agent_signal)}", f"verify {_runs(row)}"],
        "tokens": [f"in {tokens(row.tokens_in)}", f"out {tokens(row.tokens_out)}",
                   f"cached {tokens(row.tokens_cached)}", f"from {safe.text(row.usage_source or 'null')}"],
        "patch": [_hash(row.patch_sha256)],
        "env": [_hash(row.env_sha), *([safe.text(env.env_kind)] if env is not None else []),
                *(f"{safe.text(name)}={safe.text(value)}" for name, value in settings)],
        "task": [_hash(row.task_sha), f"prompt {_hash(row.prompt_sha)}"],
        "oracle": [_hash(row.oracle_sha)],
        "limits": _limits(state, row) or ["none stated"],
        "verify": [_command(row.verify_cmd)],
        "agent": _agent(state, row),
        "row": [f"{row.seq} at {safe.text(row.at)}", f"attempt {safe.text(row.attempt_id)}"],
    }  # fmt: skip
    return [line for label, values in parts.items() for line in _flowed(label, values, width)]


def _limits(state: RunState, row: AttemptRow) -> list[str]:
    """Time limits that the ledger states."""
    env, task = state.environments.get(row.env or ""), state.tasks.get(row.task or "")
    said = [f"verify {task.verify_timeout_s:g} s"] if task is not None else []
    if env is not None:
        said += [f"environment {env.timeout_s:g} s"] if env.timeout_s is not None else []
    return said


def _agent(state: RunState, row: AttemptRow) -> list[str]:
    facts = [one for one in state.run.agents if one.name == row.agent] if state.run is not None else []
    if not facts:
        return ["none"]
    one = facts[0]
    model = [f"model {safe.text(one.model)}"] if one.model else []
    return [safe.text(one.name), safe.text(one.agent_kind), _hash(one.digest), *model]


def _ended(exit_code: int | None, signal: int | None) -> str:
    return f"signal {signal}" if signal is not None else _number(exit_code)


def _runs(row: AttemptRow) -> str:
    if not row.verify_runs:
        return _ended(row.exit_code, row.signal)
    return ", ".join(_number(code) for code in row.verify_runs)


def _hash(value: str | None) -> str:
    return "null" if value is None else safe.text(value[:_HASH])


def _command(command: list[str] | str) -> str:
    return safe.text(command_line(command))
