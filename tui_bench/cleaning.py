"""Text from outside (logs, names, reasons, paths, error messages) made fit for a terminal.

The one invariant: nothing that leaves here holds a control character, so no program can drive the terminal through
its output. Colours (SGR) are read into `Look`s, every other escape sequence is dropped, and what would be invisible
or would reorder text is shown: C0 and DEL as control pictures (`␛`), C1, bidirectional and zero-width characters as
`‹U+202E›`. One pass, linear in the length of the input; the input is cut before it is cleaned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

LINE_LIMIT = 4096
"""Characters of one line that are looked at; the rest becomes an ellipsis."""
TAB = 8

Colour = int | tuple[int, int, int] | None
"""Number in the terminal's palette (0-15), red-green-blue, or the default colour."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a stretch of text is drawn. Conceal and blink are left out on purpose: text must stay readable."""

    foreground: Colour = None
    background: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Clean text in one look."""

    text: str
    look: Look


PLAIN = Look()

_RUN = re.compile(r"[ -~]+|[^\x00-\x7f]+")
_CSI = re.compile(r"\x1b\[([0-?]*)([ -/]*)([@-~])")
_STRING = re.compile(r"\x1b[\]PX^_]([^\x07\x1b\x80-\x9f]*)(\x07|\x1b\\|\x9c)")
_OTHER = re.compile(r"\x1b[ -/]*[0-OQ-WYZ`-~\\]")
_SGR = re.compile(r"[0-9:;]*\Z")
_INVISIBLE = frozenset(("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""
_PRESENTATION = frozenset("\ufe0e\ufe0f")
"""They only choose between two drawings of one sign, and terminals disagree on its width afterwards."""


def clean(raw: bytes | str, limit: int = LINE_LIMIT) -> str:
    """`raw` as one line of plain text: no colours, no control characters, line ends shown as `␊`."""
    return "".join(stretch.text for stretch in stretches(raw, limit))


def stretches(raw: bytes | str, limit: int = LINE_LIMIT) -> list[Stretch]:
    """`raw` as one line in coloured stretches, none of them empty. Bytes that are not UTF-8 become `�`."""
    text, cut = _cut(raw, limit)
    look, column = PLAIN, 0
    found: list[Stretch] = []
    parts: list[str] = []

    def close() -> None:
        if parts:
            found.append(Stretch("".join(parts), look))
            parts.clear()

    for piece in _pieces(text):
        if isinstance(piece, _Sgr):
            close()
            look = piece.applied_to(look)
        else:
            parts.append(" " * (TAB - column % TAB) if piece == "\t" else piece)
            column += _columns(parts[-1])
    close()
    if cut:
        found.append(Stretch("…", PLAIN))
    return found


def _columns(text: str) -> int:
    """Terminal columns of clean text, as near as the width of its characters tells."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.category(character) in ("Mn", "Me") for character in text)
    return len(text) + wide - marks


def _cut(raw: bytes | str, limit: int) -> tuple[str, bool]:
    """The first `limit` characters, and whether there were more. A line end at the end is not part of a line."""
    if isinstance(raw, bytes):
        head = raw[: 4 * limit + 8].removesuffix(b"\n").removesuffix(b"\r")
        longer = len(raw) > 4 * limit + 8
        text = head.decode("utf-8", "replace")
    else:
        longer = False
        text = raw.removesuffix("\n").removesuffix("\r")
    return text[:limit], longer or len(text) > limit


@dataclass(frozen=True, slots=True)
class _Sgr:
    """A colour change found in the text."""

    parameters: str

    def applied_to(self, look: Look) -> Look:
        codes = [_number(part) for part in re.split("[;:]", self.parameters)]
        at = 0
        while at < len(codes):
            look, at = _step(look, codes, at)
        if look.foreground is not None and look.foreground == look.background:
            look = replace(look, background=None)
        return look


def _number(digits: str) -> int:
    """An SGR parameter; empty means 0, and one too long to mean anything is -1."""
    if not digits:
        return 0
    return int(digits) if len(digits) <= 3 else -1


_SWITCHES: dict[int, dict[str, bool]] = {
    1: {"bold": True}, 2: {"dim": True}, 3: {"italic": True}, 4: {"underline": True}, 7: {"reverse": True},
    9: {"strike": True}, 21: {"underline": True}, 22: {"bold": False, "dim": False}, 23: {"italic": False},
    24: {"underline": False}, 27: {"reverse": False}, 29: {"strike": False},
}  # fmt: skip


def _step(look: Look, codes: list[int], at: int) -> tuple[Look, int]:
    """One SGR code applied; returns the look and the place of the next code."""
    code = codes[at]
    if code == 0:
        return PLAIN, at + 1
    if code in _SWITCHES:
        return replace(look, **_SWITCHES[code]), at + 1
    if code in (38, 48):
        colour, after = _extended(codes, at + 1)
        return (replace(look, foreground=colour) if code == 38 else replace(look, background=colour)), after
    if 30 <= code <= 37 or 90 <= code <= 97:
        return replace(look, foreground=code - 30 if code < 90 else code - 82), at + 1
    if 40 <= code <= 47 or 100 <= code <= 107:
        return replace(look, background=code - 40 if code < 100 else code - 92), at + 1
    if code == 39:
        return replace(look, foreground=None), at + 1
    if code == 49:
        return replace(look, background=None), at + 1
    return look, at + 1


def _extended(codes: list[int], at: int) -> tuple[Colour, int]:
    """`5;N` or `2;R;G;B` from `at`; (None, end) where it is neither, since nothing after it can be trusted."""
    end = len(codes)
    if at + 1 < end and codes[at] == 5 and 0 <= codes[at + 1] <= 255:
        return _palette(codes[at + 1]), at + 2
    if at + 3 < end and codes[at] == 2 and all(0 <= part <= 255 for part in codes[at + 1 : at + 4]):
        return (codes[at + 1], codes[at + 2], codes[at + 3]), at + 4
    return None, end


def _palette(number: int) -> Colour:
    """xterm's 256 colours: 16 of the terminal's own, a 6x6x6 cube, 24 greys."""
    if number < 16:
        return number
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return grey, grey, grey
    cube = number - 16
    red, green, blue = (0 if part == 0 else 55 + 40 * part for part in (cube // 36, cube // 6 % 6, cube % 6))
    return red, green, blue


def _pieces(text: str) -> Iterator[str | _Sgr]:
    """Printable runs, single shown characters, tabs, and colour changes, in order."""
    at, end = 0, len(text)
    while at < end:
        run = _RUN.match(text, at)
        if run is not None:
            yield from _printable(run[0])
            at = run.end()
            continue
        sequence = _sequence(text, at) if text[at] == "\x1b" else None
        if sequence is None:
            yield _shown(text[at])
            at += 1
            continue
        if sequence.re is _CSI and sequence[3] == "m" and not sequence[2] and _SGR.match(sequence[1]):
            yield _Sgr(sequence[1])
        at = sequence.end()


def _sequence(text: str, at: int) -> re.Match[str] | None:
    """A complete escape sequence that starts here; an unfinished one stays visible as text."""
    return _CSI.match(text, at) or _STRING.match(text, at) or _OTHER.match(text, at)


def _printable(run: str) -> Iterator[str]:
    """A run of ASCII or of non-ASCII characters with the unseen ones made visible."""
    if run.isascii():
        yield run
        return
    for sign in _PRESENTATION:
        run = run.replace(sign, "")
    if run.isprintable() and _BLANK_LETTERS.isdisjoint(run):
        yield run
    else:
        yield "".join(map(_shown, run))


def _shown(character: str) -> str:
    """The character itself where it can be seen, its picture or its number where it cannot. Tabs pass."""
    code = ord(character)
    if character == "\t":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if character in _BLANK_LETTERS or unicodedata.category(character) in _INVISIBLE:
        return f"‹U+{code:04X}›"
    return character
