"""Removal of secret values from what is kept.

Finds a value as it is, percent-encoded, JSON-escaped and in base64, also in the middle of a longer base64 text. What
an agent spells differently is not found. Values shorter than SHORTEST are left: they would hit ordinary words.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets as random_names
import urllib.parse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

SHORTEST = 6
"""Characters of the shortest value that is looked for."""
MARK = b"[redacted]"
CHUNK = 1 << 20


class Redactor:
    """Replaces the given values, longest form first. Without values it changes nothing."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(os.fsencode(value))}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._overlap = len(longest_first[0]) - 1 if forms else 0
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first))) if forms else None

    def clean_bytes(self, content: bytes) -> bytes:
        """The content with every form of every value replaced by MARK."""
        return content if self._pattern is None else self._pattern.sub(MARK, content)

    def clean_text(self, text: str) -> str:
        """The same for a text; bytes that are no UTF-8 pass through."""
        return os.fsdecode(self.clean_bytes(os.fsencode(text)))

    def clean_file(self, path: Path) -> bool:
        """Rewrite a file that holds a value, in bounded memory; whether it did. Raises OSError."""
        if self._pattern is None or not self._occurs(path):
            return False
        fresh = path.with_name(f"{path.name}.{random_names.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with path.open("rb") as source, open(descriptor, "wb") as target:
                for part in self._cleaned(source):
                    target.write(part)
                os.fchmod(target.fileno(), os.fstat(source.fileno()).st_mode & 0o777)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        return True

    def _occurs(self, path: Path) -> bool:
        assert self._pattern is not None
        with path.open("rb") as file:
            tail = b""
            while chunk := file.read(CHUNK):
                window = tail + chunk
                if self._pattern.search(window):
                    return True
                tail = window[-self._overlap :]
        return False

    def _cleaned(self, file: BinaryIO) -> Iterator[bytes]:
        """The file in parts. A value is replaced only once all of it, in its longest form, must be in the window."""
        assert self._pattern is not None
        window = b""
        while True:
            chunk = file.read(CHUNK)
            window += chunk
            sure = len(window) - self._overlap if chunk else len(window)
            done = 0
            for found in self._pattern.finditer(window):
                if found.start() >= sure:
                    break
                yield window[done : found.start()]
                yield MARK
                done = found.end()
            upto = max(done, sure)
            yield window[done:upto]
            window = window[upto:]
            if not chunk:
                return


def _forms(value: bytes) -> Iterator[bytes]:
    yield value
    yield urllib.parse.quote_from_bytes(value, safe="").encode("ascii")
    yield os.fsencode(json.dumps(os.fsdecode(value), ensure_ascii=False)[1:-1])
    for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
        yield encode(value).rstrip(b"=")
        for offset in range(3):
            # within a longer text the first and last characters also depend on the bytes around the value
            first = (offset * 8 + 5) // 6
            last = (offset + len(value)) * 8 // 6
            yield encode(bytes(offset) + value)[first:last]
