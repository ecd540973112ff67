"""Three themes of our own, and the verdict colours under every other theme.

Colours are of the Okabe-Ito family, which people with the common colour blindnesses tell apart; the light theme takes
darker members of it, since yellow and sky blue cannot be read on white. The third keeps to blue against orange, the one
pair that every kind of colour blindness leaves apart, with void in white. Signs and weight say the same without colour.
"""

from __future__ import annotations

from textual.theme import Theme

_ON_DARK = {
    "bench-pass": "#14b489", "bench-fail": "#f07a3c", "bench-void": "#f0e442", "bench-running": "#56b4e9",
    "bench-queued": "#6f7a85", "bench-frame": "#46525e", "bench-cursor": "#22303d", "bench-cursor-cell": "#3d5a75",
    "bench-muted": "#95a3af",
}  # fmt: skip
_ON_LIGHT = {
    "bench-pass": "#00694c", "bench-fail": "#b34a00", "bench-void": "#7a5d00", "bench-running": "#00598f",
    "bench-queued": "#68727c", "bench-frame": "#aab4be", "bench-cursor": "#dce6f0", "bench-cursor-cell": "#a9c8e6",
    "bench-muted": "#56616b",
}  # fmt: skip
_SAFE = {
    **_ON_DARK, "bench-pass": "#5fb0f5", "bench-fail": "#ff9f1c", "bench-void": "#ffffff", "bench-running": "#b9a5e8",
}  # fmt: skip

DARK = Theme(
    name="bench-dark", primary="#56b4e9", secondary="#cc79a7", accent="#e69f00", warning="#f0e442", error="#f07a3c",
    success="#14b489", foreground="#dfe5ea", background="#10161c", surface="#18212a", panel="#1d2832", dark=True,
    variables=_ON_DARK,
)  # fmt: skip
LIGHT = Theme(
    name="bench-light", primary="#0072b2", secondary="#99507a", accent="#8a5a00", warning="#7a5d00", error="#b34a00",
    success="#00694c", foreground="#1a2128", background="#fcfcfa", surface="#f1f3f4", panel="#e4e8eb", dark=False,
    variables=_ON_LIGHT,
)  # fmt: skip
SAFE = Theme(
    name="bench-safe", primary="#5fb0f5", secondary="#b9a5e8", accent="#ffd166", warning="#ffffff", error="#ff9f1c",
    success="#5fb0f5", foreground="#e6ebef", background="#0d1117", surface="#161d26", panel="#1b2530", dark=True,
    variables=_SAFE,
)  # fmt: skip
OURS = (DARK, LIGHT, SAFE)


def verdict_colours(dark: bool) -> dict[str, str]:
    """Theme variables that our stylesheets use, for themes that do not bring them."""
    return dict(_ON_DARK if dark else _ON_LIGHT)
