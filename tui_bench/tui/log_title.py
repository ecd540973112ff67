"""The words in the frame of the log pane: whose log it is, and what the view is doing."""

from __future__ import annotations

from textual.content import Content

from tui_bench.analysis.state import Code, RunState
from tui_bench.tui import safe
from tui_bench.tui.clock import short_age
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.log_choice import LogEntry
from tui_bench.tui.widgets.line import fitted
from tui_bench.tui.widgets.log_tail import LogTail

NAME_MOST = 28
"""Cells of one name: what comes after it must stay readable."""
_VERDICTS = {Code.PASS: ("pass", "bench-pass"), Code.FAIL: ("fail", "bench-fail"), Code.VOID: ("void", "bench-void")}


def log_title(entry: LogEntry | None, state: RunState, chosen: bool, glyphs: Glyphs) -> Content:
    """Task, agent, environment, attempt (from 1), verdict, and which of its logs."""
    if entry is None:
        return Content("Log")
    task, env, agent = entry.key
    names = [fitted(safe.text(part), NAME_MOST, glyphs.ellipsis) for part in (task, agent, env) if part]
    parts = [Content(name) for name in [*names, f"#{entry.number + 1}"]]
    parts.append(_verdict(entry, state, glyphs))
    if entry.path is not None:
        parts.append(Content.assemble((f"{entry.part} log", "bold")))
    head = "Log  " if chosen or not entry.growing else "Log  newest: "
    return Content.assemble(head, Content(f" {glyphs.separator} ").join(parts))


def _verdict(entry: LogEntry, state: RunState, glyphs: Glyphs) -> Content:
    if entry.growing:
        return Content.assemble((f"{glyphs.running} running", "$bench-running"))
    cell = state.cell(*entry.key)
    code = cell.code(entry.number)
    if code is Code.MISSING:
        return Content("not run yet")
    word, colour = _VERDICTS[code]
    said = Content.assemble((f"{glyphs.verdict(code)} {word}", f"${colour}"))
    exit_code, cause = cell.exit_code(entry.number), cell.cause(entry.number)
    if cause is not None:
        return Content.assemble(said, " ", cause)
    return Content.assemble(said, f" exit {exit_code}") if exit_code is not None else said


def log_hint(log: LogTail, now: float, glyphs: Glyphs) -> Content:
    """Following, scrolled or frozen; where in the file; how long ago the last output came."""
    parts: list[Content] = []
    if log.frozen:
        parts.append(Content.assemble((f"{glyphs.frozen} frozen, f follows", "$bench-void")))
    elif log.following and log.source is not None and log.source.growing:
        parts.append(Content.assemble((f"{glyphs.alive} following", "$bench-pass")))
    if log.share is not None:
        parts.append(Content(f"{log.share:.0%}"))
    if log.wrap:
        parts.append(Content("wrapped"))
    if log.status is not None and log.source is not None and not log.source.growing:
        parts.append(Content(_size(log.status.size)))
    elif log.status is not None and log.status.size:
        parts.append(Content(f"last output {short_age(max(0.0, now - log.status.written))} ago"))
    return Content(f" {glyphs.separator} ").join(parts)


def _size(count: int) -> str:
    if count < 10_000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 10_000_000 else f"{count / 1_000_000:.0f} MB"
