"""Standard streams that cannot end a command: closed ones are the null device, and a reader that left is no error.

What a command has to say may have nowhere to go (`run ... | head -1`, `gate ... >&-`, a full disk behind a
redirection). Its work and its exit code do not depend on that.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, TextIO


class Unbreakable(io.TextIOBase):
    """A text stream whose writes are lost without a word once the first has failed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            self._give_up()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._give_up()

    def isatty(self) -> bool:
        return not self._stream.closed and self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (whatever the stream beneath has)
        return getattr(self._stream, name)

    def _give_up(self) -> None:
        """Lead the descriptor to the null device: what is still in a buffer must not fail when the process ends."""
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, self._stream.fileno())
            os.close(null)


def settle() -> None:
    """Make the three streams usable. Descriptors 0 to 2 are filled first: no file of ours may come to lie there."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (open as long as the process)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        if not isinstance(stream, Unbreakable):
            setattr(sys, name, Unbreakable(stream))
