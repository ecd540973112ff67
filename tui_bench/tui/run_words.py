"""A run in the words of the list of runs: how it stands, how far it is, what it found. Pure; every text is clean."""

from __future__ import annotations

from collections.abc import Mapping

from tui_bench.tui import safe
from tui_bench.tui.clock import short_age
from tui_bench.tui.glyphs import Glyphs
from tui_bench.tui.run_reader import Summary
from tui_bench.tui.widgets.choices import Choice
from tui_bench.tui.widgets.grid_layout import GUTTER, Span

_LIVES: dict[str, tuple[str, str]] = {
    "waiting": ("waiting", "running"), "live": ("LIVE", "pass"), "paused": ("PAUSED", "void"),
    "late": ("LATE", "void"), "lost": ("RUNNER LOST", "fail"), "stopped": ("STOPPED", "void"),
    "ended": ("ended", "muted"),
}  # fmt: skip
_GATES = (
    ("GATE OPEN", "pass"),
    ("WINNER", "pass"),
    ("GATE SHUT", "fail"),
    ("GATE ...", "running"),
    ("STOPPED", "fail"),
)
VERDICT_LEAST = 20
_WIDE = 100


def run_columns(width: int) -> dict[str, Span]:
    """Study, run, state, progress, age, verdict; the verdict goes where it has no room."""
    wide = width >= _WIDE
    sizes = {"study": 18 if wide else 14, "run": 22, "state": 24 if wide else 13, "done": 11 if wide else 9, "age": 6}
    gap = 2 if wide else 1
    spans: dict[str, Span] = {}
    at = GUTTER
    for name, size in sizes.items():
        spans[name] = Span(at, size)
        at += size + gap
    if width - at >= VERDICT_LEAST:
        spans["verdict"] = Span(at, width - at)
    return spans


def run_choice(run: Summary, now: float, glyphs: Glyphs) -> Choice:
    """The run as an entry of the list."""
    key, name = str(run.ledger), safe.text(run.ledger.name.removesuffix(".jsonl"))
    if run.facts is None:
        cells = {"run": (name, "plain"), "state": ("nothing", "muted"), "verdict": (safe.text(run.reason), "muted")}
        return Choice(key, cells)
    state, style = state_words(run, glyphs)
    beat = run.facts.beat_s
    return Choice(key, {
        "study": (safe.text(run.facts.study), "plain"),
        "run": (safe.text(run.facts.run_id or name), "plain"),
        "state": (state, style),
        "done": (progress_words(run), "plain"),
        "age": (short_age(beat) if beat is not None else "", "muted"),
        "verdict": verdict_words(run),
    })  # fmt: skip


def state_words(run: Summary, glyphs: Glyphs) -> tuple[str, str]:
    """Live, ended, stopped, lost or damaged, with a style that repeats it."""
    if run.damage:
        return "DAMAGED", "fail"
    life = run.facts.life if run.facts is not None else "waiting"
    word, style = _LIVES[life]
    beat = run.facts.beat_s if run.facts is not None else None
    if life == "live" and beat is not None:
        return f"{word} {glyphs.alive} beat {short_age(beat)}", style
    return word, style


def progress_words(run: Summary) -> str:
    """Attempts done of those planned; while the ledger is read, how much of it is."""
    if run.large or run.facts is None:
        return "?"
    return f"{run.facts.done}/{run.facts.planned}" if run.share >= 1 else f"read {run.share:.0%}"


def verdict_words(run: Summary) -> tuple[str, str]:
    """The first line that the run allows, with a style."""
    if run.damage:
        return safe.text(run.damage[0]), "fail"
    if run.large:
        return "a large ledger: open it to see", "muted"
    if not run.verdict:
        return "reading", "muted"
    line = safe.text(run.verdict[0])
    return line, next((style for word, style in _GATES if line.startswith(word)), "plain")


def fields_of(run: Summary, glyphs: Glyphs) -> Mapping[str, str]:
    """What a filter asks of a run: free text over all that the list shows."""
    facts = run.facts
    texts = (facts.study if facts else "", facts.run_id if facts else "", str(run.ledger), state_words(run, glyphs)[0])
    return {"text": "\n".join((*texts, *run.verdict))}
