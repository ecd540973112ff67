"""Bytes into lines, lines into rows or named faults.

Nothing here raises on bad content: whatever a line holds, it becomes a row or a fault. Memory is bounded by the chunk
that is fed plus one row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from tui_bench.ledger.rows import ROW_LIMIT, AnyRow

FaultKind = Literal[
    "empty", "too_long", "bom", "not_utf8", "not_json", "duplicate_key", "not_finite", "bad_text", "too_deep",
    "out_of_range", "unknown_kind", "not_a_row",
]

_decoder = msgspec.json.Decoder(AnyRow)
_encoder = msgspec.json.Encoder(order="sorted")
_KINDS = ("run", "task", "env", "event", "attempt")
_BOM = b"\xef\xbb\xbf"
_INTEGER_DIGITS = 4000
"""Below the interpreter's own limit for turning text into an integer."""
_TOO_DEEP = "nested too deeply"


class Fault(msgspec.Struct, frozen=True):
    """Why a line is no row. `message` says it to a person; `name` is the kind found, for `unknown_kind`."""

    kind: FaultKind
    message: str
    name: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One complete line: 1-based number, byte offset, length without its newline, and either a row or a fault."""

    number: int
    offset: int
    length: int
    row: AnyRow | None
    fault: Fault | None


class RawLine(msgspec.Struct, frozen=True):
    """One complete line before parsing. `data` is None when it was longer than any row may be."""

    number: int
    offset: int
    length: int
    data: bytes | None


class Splitter:
    """Cuts a stream of chunks into complete lines and holds back what follows the last newline."""

    def __init__(self, offset: int = 0, number: int = 1) -> None:
        self._offset = offset
        self._number = number
        self._held = b""
        self._dropped = 0

    @property
    def number(self) -> int:
        """1-based number of the line that is not complete yet."""
        return self._number

    @property
    def offset(self) -> int:
        """Byte offset at which the line that is not complete yet begins."""
        return self._offset

    @property
    def held(self) -> int:
        """Bytes after the last newline."""
        return self._dropped + len(self._held)

    def feed(self, chunk: bytes) -> Iterator[RawLine]:
        """Lines that `chunk` completes. The iterator must be exhausted before the next chunk is fed."""
        first, *rest = chunk.split(b"\n")
        self._held = self._held + first if self._held else first
        if rest:
            last = rest.pop()
            yield self._take(self._held)
            for data in rest:
                yield self._take(data)
            self._held = last
        if len(self._held) > ROW_LIMIT:
            self._dropped += len(self._held)
            self._held = b""

    def _take(self, data: bytes) -> RawLine:
        length = self._dropped + len(data)
        line = RawLine(self._number, self._offset, length, data if length <= ROW_LIMIT else None)
        self._offset += length + 1
        self._number += 1
        self._dropped = 0
        return line


def parse(data: bytes) -> AnyRow | Fault:
    """A line's row, or why it is none.

    A line that encodes to itself cannot hold a key twice, so only lines in other forms take the slow, strict way.
    """
    try:
        row = _decoder.decode(data)
        if _encoder.encode(row) == data:
            return row
    except (msgspec.DecodeError, RecursionError) as error:
        return find_fault(data) or Fault("not_a_row", _one_line(error))
    except UnicodeDecodeError:
        return Fault("not_utf8", "not UTF-8")
    return find_fault(data) or row


def parsed(raw: RawLine) -> Line:
    """A raw line with its row or fault."""
    if raw.data is None:
        fault = Fault("too_long", f"{raw.length} bytes, a row has at most {ROW_LIMIT}")
        return Line(raw.number, raw.offset, raw.length, None, fault)
    found = parse(raw.data)
    if isinstance(found, Fault):
        return Line(raw.number, raw.offset, raw.length, None, found)
    return Line(raw.number, raw.offset, raw.length, found, None)


class _Refused(ValueError):
    """Raised inside the strict JSON parser to carry a fault out of it."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


def find_fault(data: bytes) -> Fault | None:
    """What is wrong with a line by the strict rules, the schema's types aside; None when nothing is."""
    if not data.strip():
        return Fault("empty", "empty line")
    if data.startswith(_BOM):
        return Fault("bom", "begins with a byte order mark")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault("not_utf8", f"not UTF-8 at byte {error.start}")
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_integer
        )
        _check_text(value)
    except _Refused as refused:
        return refused.fault
    except RecursionError:
        return Fault("too_deep", _TOO_DEEP)
    except ValueError as error:
        return Fault("not_json", f"not JSON: {_one_line(error)}")
    return _kind_fault(value)


def _kind_fault(value: object) -> Fault | None:
    if not isinstance(value, dict):
        return Fault("not_a_row", "not a JSON object")
    kind = value.get("kind")
    if not isinstance(kind, str):
        return Fault("not_a_row", "no kind")
    if kind not in _KINDS:
        return Fault("unknown_kind", f"unknown kind {kind[:40]!r}", kind)
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(Fault("duplicate_key", f"key {key[:40]!r} stands twice in one object"))
            seen.add(key)
    return members


def _refuse_constant(text: str) -> float:
    raise _Refused(Fault("not_finite", f"{text} is not a number JSON knows"))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused(Fault("not_finite", f"number {text[:40]} is out of range"))
    return number


def _integer(text: str) -> int:
    if len(text) > _INTEGER_DIGITS:
        raise _Refused(Fault("out_of_range", f"number of {len(text)} digits"))
    return int(text)


def _check_text(value: object) -> None:
    """Refuse text with a lone surrogate, which an escape can smuggle into valid JSON."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if not item.isascii() and any("\ud800" <= character <= "\udfff" for character in item):
                raise _Refused(Fault("bad_text", "text holds half a surrogate pair"))
        elif isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def _one_line(error: Exception) -> str:
    """An error's words; values of the line that it quotes cannot drive a terminal."""
    text = " ".join(str(error).split())[:200]
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def link_of(data: bytes) -> Link | None:
    """What ties a line into its ledger, of whatever kind it is; None where it says nothing of that sort."""
    try:
        return _link_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None


class Link(msgspec.Struct, frozen=True):
    """The members that every row of every schema carries."""

    run_id: str
    v: int
    seq: int
    prev: str
    sha: str


_link_decoder = msgspec.json.Decoder(Link)


