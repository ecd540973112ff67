"""What two environments differ in, and which of it the study declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tui_bench.analysis.state import RunState
from tui_bench.ledger.rows import EnvRow


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of the facts in which two environments differ, sorted. `declared` is None where the study names nothing.

    `known` is False where the facts of either environment are missing: then nothing can be said about a difference.
    """

    declared: str | None
    covered: tuple[str, ...]
    undeclared: tuple[str, ...]
    known: bool

    @property
    def confounded(self) -> bool:
        """Whether something differs beyond what the study declared. Never where it declared nothing."""
        return self.declared is not None and bool(self.undeclared)


def difference(state: RunState, env_a: str, env_b: str) -> Difference:
    """Compare two environments of a run by the facts that enter their identity, settings and variables among them."""
    declared = state.run.dimension if state.run is not None else None
    globs = state.run.dimension_facts if state.run is not None else []
    row_a, row_b = state.environments.get(env_a), state.environments.get(env_b)
    if row_a is None or row_b is None or not row_a.facts or not row_b.facts:
        return Difference(declared, (), (), False)
    names = _differing(row_a, row_b)
    covered = tuple(name for name in names if _matches(name, globs))
    return Difference(declared, covered, tuple(name for name in names if name not in covered), True)


def _differing(row_a: EnvRow, row_b: EnvRow) -> list[str]:
    first, second = row_a.facts, row_b.facts
    # A fact that one side lacks is a difference: unknown is never the same as known.
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in globs)
