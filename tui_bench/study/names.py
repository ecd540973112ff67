"""What a name may be: task ids, and the names of studies, environments, agents and variables."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

from tui_bench.study.reading import show

ID_LIMIT = 200
"""Code points."""
LISTED = 24
"""Names that one sentence lists at most."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of control, format (bidirectional marks among them), surrogate and line separating code points."""


def id_fault(text: str) -> str | None:
    """What is wrong with an id, or None.

    1 to 200 code points, NFC, no control or bidirectional characters, no leading `-`, no `.` or `..` segment.
    """
    if not text.strip():
        return "is empty"
    if len(text) > ID_LIMIT:
        return f"has {len(text)} characters; allowed: 1 to {ID_LIMIT}"
    if any(unicodedata.category(char) in _INVISIBLE for char in text):
        return "holds a control, bidirectional or invisible character; remove it"
    if not unicodedata.is_normalized("NFC", text):
        return "is not in Unicode normal form C; type it again or normalise it"
    if text.startswith("-"):
        return "begins with '-' and would be read as an option; begin with another character"
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", text)):
        return "has a '.' or '..' segment; ids are no paths"
    return None


def fold(text: str) -> str:
    """Two ids with the same fold would fall on one folder where names are compared without case."""
    return unicodedata.normalize("NFC", text.casefold())


def variable_fault(name: str) -> str | None:
    """What is wrong with the name of an environment variable, or None."""
    if not _VARIABLE.fullmatch(name):
        return f"{show(name)} is no name of a variable; allowed: letters, digits and _, not a digit first"
    return None


def unknown(what: str, name: str, known: Iterable[str], *, list_all: bool = False) -> str:
    """The sentence for a name that does not exist: the nearest known one, else (or `list_all`: also) the known."""
    names = list(known)
    near = difflib.get_close_matches(name[:ID_LIMIT], names, n=1)
    parts = [f"unknown {what} {show(name)}"]
    if near:
        parts.append(f"nearest known: {show(near[0])}")
    if list_all or not near:
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        parts.append(f"known: {', '.join(names[:LISTED])}{more}")
    return "; ".join(parts)
