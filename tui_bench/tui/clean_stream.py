"""A text of any size without anything that could drive a terminal, piece by piece, for programs that show text raw."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from tui_bench.tui import safe
from tui_bench.tui.log_file import Lines

PIECE = 256 * 1024
LINE_MOST = 64 * 1024
"""Characters of one line that are kept."""
_PLAIN = re.compile(rb"[\t\n\x20-\x7e]*")


async def cleaned(lines: Lines) -> AsyncIterator[bytes]:
    """The text as it is now, line by line clean, UTF-8, without colours; what is written meanwhile is left out."""
    status = lines.status()
    end = status.size if status is not None else 0
    at = 0
    while at < end:
        raw = await asyncio.to_thread(lines.chunk, at, min(PIECE, end - at))
        if not raw:
            return
        whole = raw if at + len(raw) >= end else raw[: raw.rfind(b"\n") + 1] or raw
        yield await asyncio.to_thread(clean_piece, whole)
        at += len(whole)


def clean_piece(raw: bytes) -> bytes:
    """Whole lines, clean. Plain ASCII passes as it is."""
    if _PLAIN.fullmatch(raw):
        return raw
    text = "\n".join(safe.text(line, LINE_MOST) for line in raw.split(b"\n"))
    return text.encode("utf-8", "replace")
