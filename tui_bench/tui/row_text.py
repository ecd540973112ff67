"""A whole row to read: its JSON with sorted keys, one member a line, cleaned, in pieces no wider than the pane."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

from tui_bench.ledger.lines import RawLine, find_fault
from tui_bench.ledger.rows import ROW_LIMIT
from tui_bench.tui import safe

_KEY = re.compile(r'\s*"(?:[^"\\]|\\.)*":')


@dataclass(frozen=True, slots=True)
class TextLine:
    """Clean text of one screen row; the first `key` characters name a member."""

    text: str
    key: int = 0


def row_text(raw: RawLine, faults: tuple[str, ...], width: int, *, compact: bool = False) -> list[TextLine]:
    """The row's lines; `compact` puts several short members on one.

    A damaged row begins with what is wrong, and its bytes follow as far as they can be shown.
    """
    said = [TextLine(piece) for fault in faults for piece in _pieces(f"line {raw.number}: {fault}", width)]
    if raw.data is None:
        return said
    body = [line for text in _members(raw.data, width if compact else 0) for line in _wrapped(text, width)]
    return [*said, TextLine(""), *body] if said else body


def _members(data: bytes, packed: int) -> list[str]:
    """One member a line where it is JSON, as many as fit into `packed` cells where asked; else the line itself."""
    fault = find_fault(data)
    if fault is None or fault.kind == "unknown_kind":
        try:
            row = json.loads(data)
            return _packed(row, packed) if packed and isinstance(row, dict) else _dump(row, 1).split("\n")
        except (RecursionError, ValueError):
            pass  # valid, but nested deeper than it can be laid out: shown as it stands
    return [data.decode("utf-8", "replace")]


def _packed(row: dict[str, object], width: int) -> list[str]:
    lines = [""]
    for name in sorted(row):
        member = f"{_dump(name)}: {_dump(row[name])}, "
        if lines[-1] and cell_len(lines[-1]) + cell_len(member) > width + 1:
            lines.append("")
        lines[-1] += member
    return [*lines[:-1], lines[-1].removesuffix(", ")]


def _dump(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=True)


def _wrapped(text: str, width: int) -> list[TextLine]:
    key = _KEY.match(text)
    pieces = _pieces(text, width)
    named = len(safe.text(key[0], ROW_LIMIT)) if key else 0
    return [TextLine(piece, min(named, len(piece)) if number == 0 else 0) for number, piece in enumerate(pieces)]


def _pieces(foreign: str, width: int) -> list[str]:
    clean = safe.text(foreign, ROW_LIMIT)
    return [clean] if cell_len(clean) <= width else chop_cells(clean, max(2, width))
