"""What an agent says it used, read as if it were forged.

The file is written by the agent, so it may be anything: a pipe, a link, a lie. Whatever is not a plain small JSON
object with plain counts gives null with a reason; unknown never becomes zero, and nothing is added up.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

LIMIT_BYTES = 64 * 1024
LARGEST = 10**12
CLOCK_STEP_NS = 10_000_000
"""File times lag the clock by up to one kernel tick."""
SOURCE = "agent_file"
SOURCE_EXTRA = "agent_file, cached extra"
"""The file counts cached tokens (`cache_read`) beside `tokens_in`, not within it."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one attempt. None: not known; `error` says why where the file is to blame."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    source: str | None = None
    error: str | None = None


class _Refused(Exception):
    """The file does not say anything that may be used."""


def read_usage(path: Path, attempt_id: str, started_ns: int) -> Usage:
    """Usage in a file that the agent wrote after `started_ns` (wall clock). Never raises for what the file holds.

    Keys: `tokens_in`, `tokens_out`, `tokens_cached` (contained in tokens_in; `cache_read` where it is not), and
    optionally `attempt_id`. A file with one count that cannot be one is used in no part.
    """
    try:
        found = _parse(_read(path, started_ns))
        if "attempt_id" in found and found["attempt_id"] != attempt_id:
            raise _Refused("its attempt_id is that of another attempt")
        extra = "tokens_cached" not in found and "cache_read" in found
        cached = _count(found, "cache_read" if extra else "tokens_cached")
        usage = Usage(_count(found, "tokens_in"), _count(found, "tokens_out"), cached)
    except _Refused as error:
        return Usage(error=f"usage.json: {error}")
    except OSError as error:
        return Usage(error=f"usage.json: {error.strerror}")
    if usage == Usage():
        return Usage(error="usage.json: holds no token counts")
    source = SOURCE_EXTRA if extra else SOURCE
    return Usage(usage.tokens_in, usage.tokens_out, usage.tokens_cached, source)


def _read(path: Path, started_ns: int) -> bytes:
    descriptor = os.open(path, _OPEN)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Refused("is not a regular file")
        if status.st_nlink != 1:
            raise _Refused("has another name (hard link)")
        if status.st_mtime_ns < started_ns - CLOCK_STEP_NS:
            raise _Refused("is older than the attempt")
        content = b""
        while len(content) <= LIMIT_BYTES and (chunk := os.read(descriptor, LIMIT_BYTES + 1 - len(content))):
            content += chunk
    finally:
        os.close(descriptor)
    if len(content) > LIMIT_BYTES:
        raise _Refused(f"is larger than {LIMIT_BYTES // 1024} KiB")
    return content


def _parse(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except UnicodeDecodeError:
        raise _Refused("is not UTF-8") from None
    except RecursionError:
        raise _Refused("is nested too deeply") from None
    except ValueError as error:
        raise _Refused(f"is not JSON ({str(error).splitlines()[0]})") from None
    if not isinstance(found, dict):
        raise _Refused("is not a JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("names a key twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise _Refused(f"holds {text}")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _Refused("holds a number without end")
    return value


def _count(found: dict[str, Any], key: str) -> int | None:
    value = found.get(key)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _Refused(f"{key} is not a whole number from 0 to 10^12")
    return value
