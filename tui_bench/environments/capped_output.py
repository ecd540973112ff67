"""What is kept of a command's output: one file of bounded size, and the last bytes of each stream.

Runs inside the supervisor program, so it imports the standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os

CHUNK = 1 << 20
DEFAULT_PIPE = 65536
STREAM_TAIL = 4096


class CappedLog:
    """The head as it comes; at the end a line that says how much is missing, and the tail.

    Never follows a link and never opens a file that exists. `total` bytes were given, `kept` of them are in the file.
    """

    def __init__(self, path: str, head_bytes: int, tail_bytes: int) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.head_left = head_bytes
        self.tail_bytes = tail_bytes
        self.tail = bytearray()
        self.total = 0
        self.kept = 0
        self.ends_line = True
        self.error: str | None = None

    def add(self, data: memoryview) -> None:
        """Take the next bytes of either stream."""
        self.total += len(data)
        if self.head_left:
            head, data = data[: self.head_left], data[self.head_left :]
            self.head_left -= len(head)
            self.kept += self._write(head)
            self.ends_line = bytes(head[-1:]) == b"\n"
        if data:
            self.tail += data[-self.tail_bytes :] if self.tail_bytes else b""
            if len(self.tail) > 4 * self.tail_bytes:
                self._trim()

    def close(self) -> None:
        """Write what was held back."""
        self._trim()
        missing = self.total - self.kept - len(self.tail)
        if missing > 0:
            self._write(memoryview(b"%s[... %d bytes left out ...]\n" % (b"" if self.ends_line else b"\n", missing)))
        self.kept += self._write(memoryview(self.tail))
        os.close(self.fd)

    def _trim(self) -> None:
        del self.tail[: max(0, len(self.tail) - self.tail_bytes)]

    def _write(self, data: memoryview) -> int:
        """Bytes written. The first failure is remembered and ends writing; the command goes on."""
        done = 0
        try:
            while self.error is None and done < len(data):
                done += os.write(self.fd, data[done:])
        except OSError as error:
            self.error = f"log: {error.strerror}"
        return done


class Stream:
    """The reading end of one of the command's pipes."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.tail = b""
        os.set_blocking(fd, False)

    @property
    def open(self) -> bool:
        """False once its end was read."""
        return self.fd >= 0

    def pump(self, log: CappedLog, buffer: bytearray) -> bool:
        """Take what is there, at most one buffer. False when there is nothing now, or nothing more to come."""
        try:
            count = os.readv(self.fd, [buffer])
        except BlockingIOError:
            return False
        if count == 0:
            self.close()
            return False
        if count == DEFAULT_PIPE and hasattr(fcntl, "F_SETPIPE_SZ"):
            # A full pipe means that the command is the faster one: let it run further ahead, for fewer wake-ups.
            with contextlib.suppress(OSError):
                fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, CHUNK)
        data = memoryview(buffer)[:count]
        log.add(data)
        self.tail = (self.tail + bytes(data[-STREAM_TAIL:]))[-STREAM_TAIL:]
        return True

    def close(self) -> None:
        """Give the descriptor back; the tail stays."""
        if self.open:
            os.close(self.fd)
            self.fd = -1


def read_rest(fd: int, limit: int = 4096) -> bytes:
    """What is in a pipe now."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        return os.read(fd, limit)
    return b""
