"""One attempt as the cells of a table row: clean words, and the tone that repeats them in colour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tui_bench.analysis.state import Code, RunState
from tui_bench.analysis.task_attempts import TaskAttempt
from tui_bench.ledger.rows import AttemptRow
from tui_bench.tui import safe
from tui_bench.tui.clock import age, seconds_since
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.resource_lines import seconds, tokens

Tone = Literal["pass", "fail", "void", "running", "queued"]
_WORDS = {Code.PASS: "pass", Code.FAIL: "fail", Code.VOID: "void"}
_TONES: dict[Code, Tone] = {Code.PASS: "pass", Code.FAIL: "fail", Code.VOID: "void", Code.MISSING: "queued"}
_LETTERS = {"probe": "p", "rerun": "r", "warmup": "w"}


@dataclass(frozen=True, slots=True)
class Cells:
    """Clean text. `struck`: replaced by a newer row; `aside`: outside the plan, never scored."""

    number: str
    agent: str
    env: str
    verdict: str
    wall: str
    tokens: str
    patch: str
    tone: Tone
    struck: bool
    aside: bool


def cells_of(
    attempt: TaskAttempt, row: AttemptRow | None, state: RunState, now: float, glyphs: Glyphs
) -> Cells:
    """The cells of one attempt; what only the row tells is an ellipsis until it has been read."""
    _, env, agent = attempt.key
    aside = attempt.kind not in ("planned", "replaced")
    verdict, tone = _verdict(attempt, row, state, now, glyphs)
    unread = glyphs.ellipsis if attempt.offset is not None else ""
    used = f"{tokens(row.tokens_in)}/{tokens(row.tokens_out)}" if row is not None else unread
    return Cells(
        number=label(attempt),
        agent=safe.text(agent),
        env=safe.text(env),
        verdict=verdict,
        wall=seconds(row.wall_ms) if row is not None else _wall(attempt, state) or unread,
        tokens="not scored" if aside else "replaced" if attempt.kind == "replaced" else used,
        patch=_patch(row, state) if row is not None else unread,
        tone=tone,
        struck=attempt.kind == "replaced",
        aside=aside,
    )


def label(attempt: TaskAttempt) -> str:
    """`1` for the first planned attempt; `p3`, `r3` for a probe or a re-run that has number 3 in its cell."""
    letter = _LETTERS.get(attempt.kind)
    return f"{letter}{attempt.number + 1}" if letter else str(attempt.number + 1)


def _wall(attempt: TaskAttempt, state: RunState) -> str:
    if attempt.offset is None or attempt.kind != "planned":
        return ""
    return seconds(state.cell(*attempt.key).wall_ms(attempt.number))


def _verdict(
    attempt: TaskAttempt, row: AttemptRow | None, state: RunState, now: float, glyphs: Glyphs
) -> tuple[str, Tone]:
    one = attempt.running
    if one is not None:
        since = seconds_since(one.since, now)
        took = f" {age(since)}" if since is not None else ""
        return f"{glyphs.running} {one.phase or 'starting'}{took}", "running"
    code = attempt.code
    if row is not None:
        code = Code.VOID if row.passed is None else Code.PASS if row.passed else Code.FAIL
    if code is Code.MISSING:
        return _not_run(attempt, state, glyphs), "queued"
    cause = (row.void if row is not None else attempt.cause) if code is Code.VOID else None
    why = cause or (row.fail_reason if row is not None else None)
    flaky = f" {glyphs.flaky}flaky" if attempt.flaky else ""
    return f"{glyphs.verdict(code)} {_WORDS[code]}{flaky}{f' {safe.text(why)}' if why else ''}", _TONES[code]


def _not_run(attempt: TaskAttempt, state: RunState, glyphs: Glyphs) -> str:
    if attempt.key[0] in state.excluded:
        return f"{glyphs.absent} set apart"
    return f"{glyphs.absent} not run" if state.over else f"{glyphs.queued} queued"


def _patch(row: AttemptRow, state: RunState) -> str:
    """Whether the agent changed anything: `changed`, `empty`, `error`, or `null` where nothing is known."""
    if row.patch_error:
        return "error"
    if row.patch_sha256 is None:
        return "null" if state.subject == "agent" else "none"
    return "empty" if row.patch_sha256 == "empty" else "changed"
