"""What a cell of the grid shows instead of its verdicts: a rate with its n, the duration, the tokens.

Durations and tokens are those of the declared attempt, one observation each; a share always stands as `passes/scored`.
What is unknown reads `null`, and a cell without a row shows no figure at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from tui_bench.analysis.state import Cell, Code

Figure = Literal["verdict", "rate", "wall", "tokens"]
FIGURES: tuple[Figure, ...] = get_args(Figure)
FIGURE_WORDS: dict[Figure, str] = {
    "verdict": "attempts in order", "rate": "passes of scored attempts", "wall": "duration of attempt",
    "tokens": "tokens of attempt",
}  # fmt: skip
FIGURE_WIDTH = 5
"""Cells that a figure may take."""
NULL = "null"


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure and how it reads: as a pass, a fail, a void, or as plain text."""

    text: str
    look: Literal["pass", "fail", "void", "queued", "task"]


def figure(cell: Cell, kind: Figure, declared: int) -> Shown | None:
    """The figure of a cell; None where no attempt has a row."""
    if kind == "rate":
        return _rate(cell)
    code = cell.code(declared)
    if code is Code.MISSING:
        return None
    value = cell.wall_ms(declared) if kind == "wall" else cell.tokens(declared)
    if value is None:
        return Shown(NULL, "queued")
    return Shown(duration(value) if kind == "wall" else count(value), "void" if code is Code.VOID else "task")


def _rate(cell: Cell) -> Shown | None:
    if not cell.done():
        return None
    passes, scored = cell.passes(), cell.scored()
    if not scored:
        return Shown(NULL, "void")
    return Shown(f"{passes}/{scored}", "pass" if passes == scored else "task" if passes else "fail")


def duration(ms: float) -> str:
    """`0.4s`, `48s`, `3m05`, `1h20`, `99h+`: at most five cells."""
    seconds = ms / 1000
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 100:
        return f"{whole}s"
    if whole < 6000:
        return f"{whole // 60}m{whole % 60:02}"
    return f"{whole // 3600}h{whole // 60 % 60:02}" if whole < 360_000 else "99h+"


def count(number: float) -> str:
    """`812`, `4.1k`, `38k`, `1.2M`: at most five cells."""
    if number < 1000:
        return f"{number:.0f}"
    for size, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        if number < 9.95 * size:
            return f"{number / size:.1f}{unit}"
        if number < 999.5 * size:
            return f"{number / size:.0f}{unit}"
    return "999G+"
