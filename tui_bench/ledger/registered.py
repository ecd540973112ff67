"""Registered re-runs as the ledger holds them: a `request` row that names cells, numbers and how many, before any runs.

The row's detail is `{"do": "rerun_flips", "k": 5, "cells": [[task, env, agent or null, first number], ...]}`. Fresh
attempts of a cell take the numbers first .. first + k - 1. What is registered is made, whoever is asked to go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from tui_bench.ledger.rows import ROW_LIMIT, EventRow

RERUN_FLIPS = "rerun_flips"
_DETAIL_BYTES = ROW_LIMIT // 2
"""One row holds no more than this of cells; further cells follow in a row of their own."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Fresh attempts of one cell. `agent` is "" where the study has none."""

    task: str
    env: str
    agent: str
    first: int
    k: int

    @property
    def cell(self) -> tuple[str, str, str]:
        return (self.task, self.env, self.agent)


def registered(row: EventRow) -> tuple[Registered, ...]:
    """Cells that a row registers; empty for every other row. What is no cell is passed over."""
    detail = row.detail
    if row.event != "request" or detail is None or detail.get("do") != RERUN_FLIPS:
        return ()
    k, cells = detail.get("k"), detail.get("cells")
    if not _count(k) or not isinstance(cells, list):
        return ()
    return tuple(found for one in cells if (found := _cell(one, k)) is not None)


def details(cells: Sequence[Registered], k: int) -> Iterator[dict[str, Any]]:
    """Details of as many `request` rows as the cells need to stay below the limit of a row."""
    part: list[list[str | int | None]] = []
    held = 0
    for one in cells:
        entry: list[str | int | None] = [one.task, one.env, one.agent or None, one.first]
        size = len(json.dumps(entry).encode())
        if part and held + size > _DETAIL_BYTES:
            yield {"do": RERUN_FLIPS, "k": k, "cells": part}
            part, held = [], 0
        part.append(entry)
        held += size
    yield {"do": RERUN_FLIPS, "k": k, "cells": part}


def _cell(entry: object, k: int) -> Registered | None:
    if not isinstance(entry, list) or len(entry) != 4:
        return None
    task, env, agent, first = entry
    named = isinstance(task, str) and isinstance(env, str) and (agent is None or isinstance(agent, str))
    return Registered(task, env, agent or "", first, k) if named and _count(first) else None


def _count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
