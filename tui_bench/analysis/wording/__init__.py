"""Every sentence about a result. Plain text only; foreign names pass through as they are and are cleaned on output."""

from __future__ import annotations

from tui_bench.analysis.wording.contest_text import contest_line
from tui_bench.analysis.wording.flip_text import flip_lines, limits_lines, screening_lines, summary_line
from tui_bench.analysis.wording.gate_text import damage_line, gate_line, gate_lines
from tui_bench.analysis.wording.rerun_text import rerun_lines
from tui_bench.analysis.wording.void_text import void_advice, void_words

__all__ = [
    "contest_line",
    "damage_line",
    "flip_lines",
    "gate_line",
    "gate_lines",
    "limits_lines",
    "rerun_lines",
    "screening_lines",
    "summary_line",
    "void_advice",
    "void_words",
]
