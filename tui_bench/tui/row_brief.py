"""One line of a ledger as a list shows it: short clean texts, made from the raw line alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from tui_bench.ledger.lines import RawLine, parsed
from tui_bench.ledger.rows import AnyRow, AttemptRow, EnvRow, EventRow, RunRow, TaskRow
from tui_bench.tui import safe
from tui_bench.tui.clock import short_age

Tone = Literal["pass", "fail", "void", "plain", "muted"]
TEXT_MOST = 300
"""Characters of one text that a list can show at most."""
_CLOCK = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([0-9]{2}:[0-9]{2}:[0-9]{2})")


@dataclass(frozen=True, slots=True)
class Brief:
    """Clean texts, "" where a row has nothing to say. `number` is the attempt's, from 1."""

    seq: str
    time: str = ""
    kind: str = ""
    task: str = ""
    env: str = ""
    agent: str = ""
    number: str = ""
    verdict: str = ""
    note: str = ""
    wall: str = ""
    tone: Tone = "plain"
    damaged: bool = False


def brief(raw: RawLine) -> Brief:
    """The line in short; a damaged one says what is wrong with it."""
    line = parsed(raw)
    row = line.row
    if row is None:
        fault = line.fault.message if line.fault is not None else "is no row"
        known = line.fault is not None and line.fault.kind == "unknown_kind"
        tone: Tone = "muted" if known else "fail"
        return Brief(str(line.number), kind="" if known else "damaged", note=_text(fault), tone=tone, damaged=not known)
    base = Brief(str(row.seq), _time(row.at), task=_text(row.task), env=_text(row.env))
    if isinstance(row, AttemptRow):
        return _attempt(row, base)
    if isinstance(row, EventRow):
        return _event(row, base)
    return replace(base, kind=_kind(row), note=_text(_said(row)), tone="muted")


def _attempt(row: AttemptRow, base: Brief) -> Brief:
    tone: Tone = "void" if row.passed is None else "pass" if row.passed else "fail"
    notes = [row.void or "", row.fail_reason or ""]
    if row.passed is False and row.exit_code is not None:
        notes.append(f"exit {row.exit_code}")
    if row.role != "planned":
        notes.append(row.role)
    if row.replaces is not None:
        notes.append(f"replaces {row.replaces}")
    wall = short_age(row.wall_ms / 1000) if row.wall_ms is not None and row.wall_ms >= 0 else "null"
    return replace(
        base, kind="attempt", agent=_text(row.agent), number=str((row.attempt or 0) + 1), verdict=tone,
        note=_text(", ".join(filter(None, notes))), tone=tone, wall=wall,
    )  # fmt: skip


def _event(row: EventRow, base: Brief) -> Brief:
    notes = [row.phase, row.outcome, row.reason if row.reason != row.outcome else None]
    if row.replaces is not None:
        notes.append(f"replaces {row.replaces}")
    number = str(row.number + 1) if row.number is not None else ""
    said = ", ".join(_text(note) for note in notes if note)
    tone: Tone = "void" if row.event in ("stopped", "recovered") else "muted"
    return replace(base, kind=row.event, agent=_text(row.agent), number=number, note=said, tone=tone)


def _kind(row: AnyRow) -> str:
    return {RunRow: "run", TaskRow: "task", EnvRow: "env"}.get(type(row), "")


def _said(row: AnyRow) -> str:
    if isinstance(row, RunRow):
        return f"{'resumed: ' if row.resumed else ''}{row.study_id}, {row.planned} planned, subject {row.subject}"
    if isinstance(row, EnvRow):
        return f"{row.env_kind}{f', unavailable: {row.unavailable}' if row.unavailable else ''}"
    return f"verify within {row.verify_timeout_s:g} s" if isinstance(row, TaskRow) else ""


def _text(foreign: str | None) -> str:
    return safe.text(foreign, TEXT_MOST) if foreign else ""


def _time(at: str) -> str:
    found = _CLOCK.match(at)
    return found[1] if found else safe.text(at, 8)
