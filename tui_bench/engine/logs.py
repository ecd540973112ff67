"""References to files beside the ledger."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tui_bench.environments.base import Capture
from tui_bench.ledger.rows import FileRef
from tui_bench.ledger.runs import Layout


def file_ref(layout: Layout, path: Path, output: Capture | None = None) -> FileRef:
    """Path relative to the run's files folder, size and sha256 of the bytes as they lie there. Raises OSError."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return FileRef(
        path=layout.relative(path),
        sha256=digest,
        bytes=path.stat().st_size,
        cut=output is not None and output.cut,
    )
