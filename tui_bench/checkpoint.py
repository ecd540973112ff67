"""What a large ledger was folded to, kept beside it, so that opening it again costs little more than its digest.

A checkpoint holds the state after a verified prefix, the prefix's length and its sha256. It is believed only when all
of this holds: it carries the seal of this user's own key, which lies outside the folder; the same code wrote it; and
the ledger still begins with exactly that prefix. Anything else means folding from the first line. It is never needed:
whatever goes wrong here is passed over.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import msgspec

from tui_bench import __version__
from tui_bench.analysis.state import Cell, Probe, RunState
from tui_bench.ledger.runs import Layout
from tui_bench.recent import state_folder

if TYPE_CHECKING:
    from hashlib import _Hash

FILE_NAME = "fold.ckpt"
KEY_NAME = "checkpoint.key"
ROWS_LEAST = 50_000
"""Below so many rows folding is as quick as looking for a checkpoint."""
BYTES_LEAST = 16 * 1024 * 1024
"""A ledger below this size has no checkpoint."""
MAGIC = b"tui_bench fold 1\n"
_KEY_BYTES = 32
_SHA_BYTES = 32
_BEFORE_BYTES = 128
_CHUNK = 1024 * 1024
_CODE = (
    "checkpoint.py", "reading.py", "analysis/fold.py", "analysis/state.py", "analysis/verdicts.py",
    "ledger/canonical.py", "ledger/chain.py", "ledger/lines.py", "ledger/registered.py", "ledger/rows.py",
)  # fmt: skip
"""Files that decide what a prefix is folded to, below the package."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state, and where in the ledger reading goes on."""

    state: RunState
    offset: int
    lines: int
    head: str
    """sha of the last row of any kind."""
    digest: _Hash
    """sha256 of all bytes before `offset`, ready to take in more."""
    before: bytes = b""
    """The last bytes before `offset`, as they were when the prefix was verified."""


class _Body(msgspec.Struct, frozen=True):
    """What lies in the file below seal and code."""

    offset: int
    lines: int
    head: str
    sha256: str
    state: RunState


def place_of(ledger: Path) -> Path:
    """Where the checkpoint of a ledger lies: in the folder of its files."""
    return Layout(ledger).files / FILE_NAME


def exists(ledger: Path) -> bool:
    """Whether it is worth while to `load`."""
    try:
        return place_of(ledger).is_file() and ledger.stat().st_size >= BYTES_LEAST
    except OSError:
        return False


def load(ledger: Path) -> Checkpoint | None:
    """The checkpoint of a ledger where it can be believed, else None. Reads the whole prefix. Never raises."""
    try:
        if ledger.stat().st_size < BYTES_LEAST:
            return None
        body = _opened(place_of(ledger).read_bytes(), _key(make=False))
        digest, before = _prefix_digest(ledger, body.offset) if body is not None else (None, b"")
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    if body is None or digest is None or not hmac.compare_digest(digest.hexdigest(), body.sha256):
        return None
    return Checkpoint(body.state, body.offset, body.lines, body.head, digest, before)


def save(ledger: Path, found: Checkpoint) -> None:
    """Keep a state for the next time, where the run has a folder and the ledger is large and without damage."""
    folder = place_of(ledger).parent
    if found.offset < BYTES_LEAST or found.state.rows < ROWS_LEAST or found.state.damage or not folder.is_dir():
        return
    try:
        body = _Body(found.offset, found.lines, found.head, found.digest.hexdigest(), found.state)
        payload = _code_digest() + msgspec.msgpack.encode(body, enc_hook=_to_plain)
        fresh = folder / f"{FILE_NAME}.{os.getpid()}"
        fresh.write_bytes(MAGIC + _seal(_key(make=True), payload) + payload)
        fresh.replace(place_of(ledger))
    except (OSError, ValueError, OverflowError):
        return


def _opened(data: bytes, key: bytes) -> _Body | None:
    """The body, when its seal is ours and the same code wrote it. Nothing is decoded before that is known."""
    head = len(MAGIC) + _SHA_BYTES
    seal, payload = data[len(MAGIC) : head], data[head:]
    if not data.startswith(MAGIC) or not hmac.compare_digest(seal, _seal(key, payload)):
        return None
    if payload[:_SHA_BYTES] != _code_digest():
        return None
    return msgspec.msgpack.decode(payload[_SHA_BYTES:], type=_Body, dec_hook=_from_plain)


def _seal(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, payload, "sha256")


def _key(*, make: bool) -> bytes:
    """This user's key. Raises OSError where there is none, or ValueError where it cannot be one."""
    file = state_folder() / KEY_NAME
    if make and not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = file.with_name(f"{KEY_NAME}.{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(secrets.token_bytes(_KEY_BYTES))
        fresh.replace(file)
    found = file.lstat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise ValueError(f"{file}: belongs to somebody else or is open to others")
    key = file.read_bytes()
    if len(key) != _KEY_BYTES:
        raise ValueError(f"{file}: is no key")
    return key


def _prefix_digest(ledger: Path, length: int) -> tuple[_Hash | None, bytes]:
    """sha256 of the first `length` bytes, and the last of them; None where the file is shorter."""
    digest, before = hashlib.sha256(), b""
    with ledger.open("rb", buffering=0) as file:
        left = length
        while left > 0:
            chunk = file.read(min(_CHUNK, left))
            if not chunk:
                return None, b""
            digest.update(chunk)
            left -= len(chunk)
            before = (before + chunk)[-_BEFORE_BYTES:]
    return digest, before


@cache
def _code_digest() -> bytes:
    """sha256 over all that decides how rows become a state. Raises OSError where the sources cannot be read."""
    package = Path(__file__).resolve().parent
    digest = hashlib.sha256(f"{__version__} {sys.version} {sys.byteorder} {msgspec.__version__}".encode())
    for name in _CODE:
        digest.update(hashlib.sha256((package / name).read_bytes()).digest())
    return digest.digest()


def _to_plain(value: object) -> object:
    """A cell as the values of its slots, in order: every one of them, so that none can be forgotten."""
    if isinstance(value, Cell):
        return [_plain_slot(getattr(value, name)) for name in Cell.__slots__]
    raise TypeError(type(value).__name__)


def _plain_slot(value: object) -> object:
    if isinstance(value, array):
        return value.tobytes()
    return bytes(value) if isinstance(value, bytearray) else value


def _from_plain(kind: type, value: Any) -> object:  # noqa: ANN401  (whatever the decoder met)
    if kind is Cell:
        cell = Cell.__new__(Cell)
        for name, found in zip(Cell.__slots__, value, strict=True):
            setattr(cell, name, _MAKERS[name](found))
        return cell
    if get_origin(kind) is Counter:
        return Counter(value)
    raise TypeError(kind.__name__)


def _maker(name: str) -> Callable[[Any], object]:
    """What makes a slot's value of its plain form, by the type that an empty cell has there."""
    empty = getattr(Cell(0), name)
    if isinstance(empty, array):
        return partial(array, empty.typecode)
    if isinstance(empty, bytearray):
        return bytearray
    if isinstance(empty, tuple):
        return partial(msgspec.convert, type=_TUPLES[name])
    return int


_TUPLES: dict[str, Any] = {"probes": tuple[Probe, ...], "superseded": tuple[tuple[int, int], ...]}
_MAKERS = {name: _maker(name) for name in Cell.__slots__}
