"""The signs of the grid: one set for UTF-8 terminals, one in ASCII. Every sign has a fixed width in cells."""

from __future__ import annotations

import locale
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """All signs of one set. Verdict signs are one cell wide in both sets, marks are `mark_width` cells."""

    passed: str
    failed: str
    void: str
    running: str
    queued: str
    absent: str
    flaky: str
    flip: str
    unequal: str
    cursor: str
    rule: str
    ellipsis: str
    alive: str
    frozen: str
    separator: str
    enter: str
    arrows: tuple[str, str, str, str]
    """Left, right, up, down."""
    mark_width: int

    def verdict(self, code: int) -> str:
        """The sign of a cell code: 0 missing, 1 pass, 2 fail, 3 void."""
        return (self.queued, self.passed, self.failed, self.void)[code]


UNICODE = Glyphs(
    passed="✓", failed="✗", void="∅", running="▶", queued="·", absent="–", flaky="≈", flip="⇄", unequal="≠",
    cursor="›", rule="│", ellipsis="…", alive="●", frozen="‖", separator="·", enter="⏎",
    arrows=("←", "→", "↑", "↓"), mark_width=1,
)  # fmt: skip
ASCII = Glyphs(
    passed="P", failed="F", void="V", running="*", queued=".", absent="-", flaky="~", flip="<>", unequal="!=",
    cursor=">", rule="|", ellipsis="~", alive="*", frozen="=", separator="/", enter="enter",
    arrows=("left", "right", "up", "down"), mark_width=2,
)  # fmt: skip


def glyphs_for(ascii_only: bool) -> Glyphs:
    """The ASCII set when asked for, or when the locale's encoding is not UTF-8."""
    encoding = locale.getencoding().lower().replace("-", "").replace("_", "")
    return ASCII if ascii_only or encoding != "utf8" else UNICODE
