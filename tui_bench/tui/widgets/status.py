"""The top line: which run, is it alive, how far, how long still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.content import Content
from textual.widgets import Static

from tui_bench.analysis.state import RunState
from tui_bench.tui import safe
from tui_bench.tui.clock import age, remaining, seconds_of, seconds_since, short_age, time_range
from tui_bench.tui.glyphs import UNICODE, Glyphs

NAME_ROOM = 28
"""Cells that the program's and the study's names may claim before anything else gives way."""
BEAT_LATE_S = 25.0
"""A runner writes at least every 10 seconds; two missed beats and a half are worth a word."""

Life = Literal["waiting", "live", "paused", "late", "lost", "stopped", "ended"]
_WORDS: dict[Life, tuple[str, str]] = {
    "waiting": ("WAITING", "bench-running"), "live": ("LIVE", "bench-pass"), "paused": ("PAUSED", "bench-void"),
    "late": ("LATE", "bench-void"), "lost": ("RUNNER LOST", "bench-fail"), "stopped": ("STOPPED", "bench-void"),
    "ended": ("ENDED", "bench-muted"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the line says, as plain values. Ages are seconds; None is not known."""

    study: str
    run_id: str
    life: Life
    beat_s: float | None
    done: int
    planned: int
    running: int
    jobs: int
    elapsed_s: float | None
    left: tuple[float, float] | None


def facts(state: RunState, now: float, *, linked: bool, quiet_s: float | None, gone: bool = False) -> Facts:
    """What the line says at `now`.

    `linked`: a runner process is known to live; `gone`: it did and does not any more; `quiet_s`: since a row arrived.
    """
    beat = seconds_since(state.last_at, now) if state.last_at else None
    if beat is not None and quiet_s is not None:
        # Another machine's clock may be off; what was seen to arrive here is not.
        beat = min(beat, quiet_s)
    run = state.run
    start = seconds_of(run.at) if run else None
    life = life_of(state, beat, linked, gone)
    end = seconds_of(state.last_at) if state.over or life == "lost" else now
    jobs = state.jobs
    return Facts(
        study=run.study_id if run else "",
        run_id=run.run_id if run else "",
        life=life,
        beat_s=beat,
        done=state.counts.done,
        planned=state.planned,
        running=len(state.running),
        jobs=jobs,
        elapsed_s=max(0.0, end - start) if start is not None and end is not None else None,
        left=remaining(state.walls, state.planned - state.counts.done, jobs) if life == "live" else None,
    )


def life_of(state: RunState, beat_s: float | None, linked: bool, gone: bool = False) -> Life:
    """Whether the run is alive, from the ledger's last word, its age and whether a runner process is known."""
    if state.status == "empty":
        return "waiting" if linked or not state.rows else "ended"
    if state.status in ("ended", "stopped"):
        return "ended" if state.status == "ended" else "stopped"
    if gone:
        return "lost"
    if beat_s is None or beat_s > BEAT_LATE_S:
        return "late" if linked else "lost"
    return "paused" if state.status == "paused" else "live"


class StatusLine(Static):
    """`Facts` as one line; what matters least goes first when it is narrow."""

    def __init__(self, id: str | None = None, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__("", id=id, markup=False)
        self._glyphs = glyphs
        self._facts: Facts | None = None

    def show(self, shown: Facts) -> None:
        """Draw these facts; the same ones cost nothing."""
        if shown != self._facts:
            self._facts = shown
            self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._facts is None:
            return
        left = Content.assemble((" tui_bench", "bold"), "  ", safe.text(self._facts.study))
        right = self._right(self._facts, self.size.width - 3 - min(left.cell_length, NAME_ROOM))
        room = self.size.width - right.cell_length - 2
        if room < left.cell_length:
            left = left.truncate(max(0, room), ellipsis=True)
        gap = max(1, self.size.width - left.cell_length - right.cell_length - 1)
        self.update(Content.assemble(left, " " * gap, right), layout=False)

    def _right(self, shown: Facts, room: int) -> Content:
        """Life, progress, time left, running, elapsed, run id: as many as fit, in that order."""
        parts = [self._life(shown), self._progress(shown)]
        if shown.left is not None:
            parts.append(Content(f"ETA {time_range(*shown.left)}"))
        if shown.life in ("live", "paused", "late"):
            parts.append(Content(f"{shown.running} of {shown.jobs} running"))
        if shown.elapsed_s is not None:
            parts.append(Content(age(shown.elapsed_s)))
        if shown.run_id:
            parts.append(Content(safe.text(shown.run_id)))
        rule = Content(f" {self._glyphs.rule} ")
        while len(parts) > 1 and rule.join(parts).cell_length > room:
            parts.pop()
        return rule.join(parts)

    def _life(self, shown: Facts) -> Content:
        word, colour = _WORDS[shown.life]
        sign = f" {self._glyphs.alive}" if shown.life == "live" else ""
        said = Content.assemble((word + sign, f"bold ${colour}"))
        if shown.beat_s is not None and shown.life in ("live", "paused", "late", "lost"):
            beat = "beat" if shown.life in ("live", "paused") else "no beat for"
            return Content.assemble(said, (f" {beat} {short_age(shown.beat_s)}", "$bench-muted"))
        return said

    def _progress(self, shown: Facts) -> Content:
        if not shown.planned:
            return Content("no attempts planned yet")
        return Content(f"{shown.done}/{shown.planned}")
