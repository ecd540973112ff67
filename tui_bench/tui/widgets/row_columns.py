"""Where the columns of a list of rows lie for a given width. Pure arithmetic."""

from __future__ import annotations

from tui_bench.tui.widgets.grid_layout import GUTTER, Span

WIDE = 96
"""Cells from which time and duration stand too."""
_FIXED = {"seq": 7, "time": 8, "kind": 9, "number": 2, "verdict": 7, "wall": 6}
_SHARES = {"task": 0.42, "agent": 0.14, "env": 0.16}
_LEAST, _MOST = {"task": 8, "agent": 4, "env": 5}, {"task": 32, "agent": 14, "env": 16}
ORDER = ("seq", "time", "kind", "task", "agent", "env", "number", "verdict", "note", "wall")
TITLES = {"number": "#", "note": "why", "verdict": "verdict", "wall": "wall"}


def row_columns(width: int, *, agents: bool) -> dict[str, Span]:
    """Spans by column, in order. The reason takes what the names leave; time, duration and agent may be missing."""
    left_out = set() if width >= WIDE else {"time", "wall"}
    if not agents:
        left_out.add("agent")
    names = [name for name in ORDER if name not in left_out]
    gap = 2 if width >= WIDE else 1
    rest = width - GUTTER - gap * (len(names) - 1) - sum(_FIXED.get(name, 0) for name in names)
    widths = dict(_FIXED)
    for name, share in _SHARES.items():
        if name in names:
            widths[name] = min(_MOST[name], max(_LEAST[name], int(rest * share)))
    widths["note"] = max(0, rest - sum(widths.get(name, 0) for name in _SHARES if name in names))
    spans: dict[str, Span] = {}
    at = GUTTER
    for name in names:
        spans[name] = Span(at, widths[name])
        at += widths[name] + gap
    return spans
