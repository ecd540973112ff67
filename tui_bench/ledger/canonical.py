"""Rows as bytes: the canonical line, its digest, and the seal that ties it to the line before.

A line is UTF-8 JSON with sorted keys, compact separators and no newline inside. `sha` is the sha256 of the line
without its `sha` member. What `settle` returns can be read back exactly: a value that JSON would lose (NaN, infinity)
or that the schema refuses is an error before anything is written.
"""

from __future__ import annotations

import copy
import hashlib
import math
import re
from typing import Any, NamedTuple

import msgspec

from tui_bench.errors import LedgerDamaged, LedgerError
from tui_bench.ledger.rows import ROW_LIMIT, AnyRow

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder(AnyRow)
_SHA_START = b',"sha":"'
_SHA_LENGTH = len(_SHA_START) + 64 + 1
_AFTER_SEQ = re.compile(rb',"seq":[0-9]+\Z')
_SURROGATE = re.compile("[\ud800-\udfff]")


class Sealed(NamedTuple):
    """A row that is ready to be written: its line without the newline, its digest, and itself as it reads back."""

    line: bytes
    sha: str
    row: AnyRow


def escape_surrogates(text: str) -> str:
    """Text with each lone surrogate as backslash text: a byte smuggled in by `os.fsdecode` becomes `\\xNN`."""

    def escape(match: re.Match[str]) -> str:
        code = ord(match.group())
        return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"

    return _SURROGATE.sub(escape, text)


def settle(row: AnyRow) -> tuple[AnyRow, bytes]:
    """The row as it will read back, and its canonical line (at most 64 KB, without a newline).

    Raises LedgerError for NaN or infinity, for a value the schema refuses, and for a line above the limit; the
    message names the field.
    """
    try:
        line = _encoder.encode(row)
    except UnicodeEncodeError:
        row = _with_escaped_text(row)
        line = _encoder.encode(row)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LedgerError(f"{_kind(row)} row cannot be written as JSON: {error}; give plain values") from error
    try:
        back = _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise LedgerError(f"{_kind(row)} row does not fit the schema: {error}; correct that field") from error
    if back == row:
        row = back
    elif field := _not_finite(row):
        raise LedgerError(f"{_kind(row)} row: {field} is not a finite number; write null for unknown")
    else:
        row, line = back, _encoder.encode(back)
    if len(line) > ROW_LIMIT:
        raise _too_long(row, len(line))
    return row, line


def encode(row: AnyRow) -> bytes:
    """The canonical line of a row, without a newline. Raises LedgerError as `settle` does."""
    return settle(row)[1]


def seal(row: AnyRow, seq: int, prev: str, at: str) -> Sealed:
    """The row as number `seq` of its ledger, after the row whose sha is `prev`, written at `at`.

    The row given is left as it is. Raises LedgerError as `settle` does.
    """
    draft = copy.copy(row)
    draft.seq, draft.prev, draft.at, draft.sha = seq, prev, at, "0" * 64
    settled, line = settle(draft)
    place = _sha_place(line)
    if place is None:
        settled.sha = _digest_of_members(line)
        return Sealed(_encoder.encode(settled), settled.sha, settled)
    start, end = place
    before, after = line[:start], line[end:]
    settled.sha = sha = hashlib.sha256(before + after).hexdigest()
    return Sealed(b'%b,"sha":"%b"%b' % (before, sha.encode(), after), sha, settled)


def digest_of(line: bytes) -> str:
    """sha256 hex of a line without its `sha` member. Raises LedgerDamaged when the line is not a JSON object."""
    place = _sha_place(line)
    if place is None:
        return _digest_of_members(line)
    start, end = place
    return hashlib.sha256(line[:start] + line[end:]).hexdigest()


def _digest_of_members(line: bytes) -> str:
    try:
        members = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise LedgerDamaged(f"not a row: {error}") from error
    if not isinstance(members, dict):
        raise LedgerDamaged("not a row: not a JSON object")
    members.pop("sha", None)
    return hashlib.sha256(_encoder.encode(members)).hexdigest()


def verify(line: bytes, sha: str) -> bool:
    """Whether `sha`, as stored in the line, is the line's own digest. False for what is no row."""
    try:
        return digest_of(line) == sha
    except LedgerDamaged:
        return False


def _sha_place(line: bytes) -> tuple[int, int] | None:
    """Where the row's own `sha` member stands, its leading comma included; None when that is not plain to see.

    A quote inside a JSON string is always escaped, so these bytes are a member wherever they stand; in sorted order
    the row's own one follows `seq`, and no schema has an object with those two numbers behind it.
    """
    start = line.rfind(_SHA_START)
    end = start + _SHA_LENGTH
    if start < 0 or line[end - 1 : end] != b'"' or not _AFTER_SEQ.search(line, max(start - 32, 0), start):
        return None
    return start, end


def _kind(row: AnyRow) -> str:
    return str(type(row).__struct_config__.tag)


def _with_escaped_text(row: AnyRow) -> AnyRow:
    clean = _escaped(msgspec.to_builtins(row))
    try:
        return msgspec.convert(clean, type(row))
    except msgspec.ValidationError as error:
        raise LedgerError(f"{_kind(row)} row does not fit the schema: {error}; correct that field") from error


def _escaped(value: object) -> object:
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(item) for item in value]
    return value


def _not_finite(row: AnyRow) -> str | None:
    """Dotted name of the first field that holds NaN or an infinity."""
    found: list[tuple[str, Any]] = [("", msgspec.to_builtins(row))]
    while found:
        name, value = found.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return name
        if isinstance(value, dict):
            found += [(f"{name}.{key}" if name else str(key), item) for key, item in value.items()]
        elif isinstance(value, (list, tuple)):
            found += [(f"{name}[{index}]", item) for index, item in enumerate(value)]
    return None


def _too_long(row: AnyRow, length: int) -> LedgerError:
    sizes = {name: len(_encoder.encode(getattr(row, name))) for name in row.__struct_fields__}
    longest = max(sizes, key=sizes.__getitem__)
    return LedgerError(
        f"{_kind(row)} row of {length} bytes is above the limit of {ROW_LIMIT}: shorten {longest} "
        f"({sizes[longest]} bytes) or keep it in a file beside the ledger"
    )
