"""What a ledger says, in a form that stays small: one compact cell per (task, environment, agent).

A million attempt rows over ten thousand cells must fit in some tens of megabytes, so a cell holds arrays and no
objects per attempt. Nothing here decides anything; `fold` fills it, tables and gates read it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Literal

from tui_bench.ledger.rows import VOID_CAUSES, EnvRow, Phase, Role, Rule, RunRow, TaskRow

CellKey = tuple[str, str, str]
"""(task, environment, agent); the agent is "" where the study has none."""
Status = Literal["empty", "running", "paused", "stopped", "ended"]

FLAKY = 1
"""Verify runs of the attempt's one final tree disagree."""
CAPPED = 2
REPLACED = 4
"""An earlier row of this attempt was lost and run again; the code is that of the newest."""
DROPPED = 8
"""The agent's changes were taken over in part only."""
IDLE = 16
"""An agent ran and left an empty patch and no usage."""

CAUSES: tuple[str, ...] = ("", *VOID_CAUSES, "other")
"""Void causes by the index a cell stores; "" is no void, `other` a cause outside the closed list."""
CAUSE_INDEX: dict[str, int] = {name: index for index, name in enumerate(CAUSES)}
NUMBER_LIMIT = 65_536
"""Attempt numbers from here on are damage, not data: they would make a cell's arrays as large as the number."""
NONE_MS = -1
_MS_MAX = 2**31 - 1


class Code(IntEnum):
    """State of one planned attempt."""

    MISSING = 0
    PASS = 1
    FAIL = 2
    VOID = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """An attempt outside the plan: never counted. `offset` is its row's place in the ledger."""

    number: int
    role: Role
    code: Code
    offset: int


class Cell:
    """The attempts of one (task, environment, agent), by number. Methods answer for unknown numbers too."""

    __slots__ = (
        "_causes", "_codes", "_exits", "_flags", "_flaky", "_offsets", "_tokens", "_walls",
        "fresh_failed", "fresh_passed", "fresh_void", "probes", "superseded",
    )  # fmt: skip

    def __init__(self, attempts: int) -> None:
        self._codes = bytearray(attempts)
        self._causes = bytearray(attempts)
        self._flags = bytearray(attempts)
        self._exits = array("h", [NONE_MS]) * attempts
        self._offsets = array("q", [0]) * attempts
        self._walls = array("i", [NONE_MS]) * attempts
        self._tokens = array("i", [NONE_MS]) * attempts
        self._flaky = 0
        self.probes: tuple[Probe, ...] = ()
        self.superseded: tuple[tuple[int, int], ...] = ()
        """(attempt number, place in the ledger) of rows that a newer one has replaced, oldest first."""
        self.fresh_passed = 0
        """Attempts of role `rerun` by verdict; one that replaces a lost one counts once."""
        self.fresh_failed = 0
        self.fresh_void = 0

    def __len__(self) -> int:
        """Numbers with a place: the planned ones, and any beyond that a row has named."""
        return len(self._codes)

    def code(self, number: int) -> Code:
        """State of attempt `number`; MISSING where there is no row."""
        return _CODES[self._codes[number]] if 0 <= number < len(self._codes) else Code.MISSING

    def cause(self, number: int) -> str | None:
        """First void cause, None where the attempt is not void."""
        if not 0 <= number < len(self._causes):
            return None
        return CAUSES[self._causes[number]] or None

    def flags(self, number: int) -> int:
        """FLAKY, CAPPED, REPLACED and DROPPED, or-ed."""
        return self._flags[number] if 0 <= number < len(self._flags) else 0

    def exit_code(self, number: int) -> int | None:
        """Exit code of the first verify run; None where there was none."""
        known = 0 <= number < len(self._exits) and self._exits[number] != NONE_MS
        return self._exits[number] if known else None

    def offset(self, number: int) -> int | None:
        """Place of the counting row in the ledger, as given to `fold`."""
        return self._offsets[number] if self.code(number) else None

    def wall_ms(self, number: int) -> int | None:
        """Milliseconds of the whole attempt; None where unknown."""
        known = 0 <= number < len(self._walls) and self._walls[number] != NONE_MS
        return self._walls[number] if known else None

    def tokens(self, number: int) -> int | None:
        """Tokens in and out of attempt `number`; None where either is unknown."""
        known = 0 <= number < len(self._tokens) and self._tokens[number] != NONE_MS
        return self._tokens[number] if known else None

    def causes(self) -> set[str]:
        """First void causes of the cell's attempts."""
        return {CAUSES[index] for index in set(self._causes) if index}

    def passes(self) -> int:
        """Attempts that passed."""
        return self._codes.count(Code.PASS)

    def scored(self) -> int:
        """Attempts with a verdict: neither void nor missing."""
        return self._codes.count(Code.PASS) + self._codes.count(Code.FAIL)

    def done(self) -> int:
        """Attempts with a row, void ones included."""
        return len(self._codes) - self._codes.count(Code.MISSING)

    def unstable(self) -> bool:
        """Whether attempts of the cell disagree: some passed and some failed."""
        return Code.PASS in self._codes and Code.FAIL in self._codes

    def flaky(self) -> bool:
        """Whether verify runs of one final tree disagree in any attempt."""
        return self._flaky > 0

    def fresh_done(self) -> int:
        """Fresh attempts with a row, void ones included."""
        return self.fresh_passed + self.fresh_failed + self.fresh_void

    def put_fresh(self, code: Code, *, replaces: bool) -> None:
        """Count an attempt of role `rerun`; only a void one is ever replaced."""
        if replaces and self.fresh_void:
            self.fresh_void -= 1
        self.fresh_passed += code is Code.PASS
        self.fresh_failed += code is Code.FAIL
        self.fresh_void += code is Code.VOID

    def put(
        self,
        number: int,
        code: Code,
        *,
        cause: int,
        flags: int,
        exit_code: int | None,
        offset: int,
        wall_ms: int | None,
        tokens: int | None = None,
    ) -> None:
        """Store the newest row of attempt `number`. Raises IndexError beyond NUMBER_LIMIT."""
        if number >= len(self._codes):
            self._grow(number + 1)
        if self._codes[number]:
            self.superseded += ((number, self._offsets[number]),)
        self._flaky += (flags & FLAKY) - (self._flags[number] & FLAKY)
        self._codes[number] = code
        self._causes[number] = cause
        self._flags[number] = flags
        self._exits[number] = exit_code if exit_code is not None and 0 <= exit_code < 32_768 else NONE_MS
        self._offsets[number] = offset
        self._walls[number] = NONE_MS if wall_ms is None or wall_ms < 0 else min(wall_ms, _MS_MAX)
        self._tokens[number] = NONE_MS if tokens is None or tokens < 0 else min(tokens, _MS_MAX)

    def _grow(self, length: int) -> None:
        if length > NUMBER_LIMIT:
            raise IndexError(f"attempt number {length - 1} is beyond {NUMBER_LIMIT - 1}")
        more = length - len(self._codes)
        self._codes.extend(bytes(more))
        self._causes.extend(bytes(more))
        self._flags.extend(bytes(more))
        self._exits.extend([NONE_MS] * more)
        self._offsets.extend([0] * more)
        self._walls.extend([NONE_MS] * more)
        self._tokens.extend([NONE_MS] * more)


_CODES = (Code.MISSING, Code.PASS, Code.FAIL, Code.VOID)
_ABSENT = Cell(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An attempt that has started and has no row yet. `since` is the `at` of its `started` row."""

    attempt_id: str
    key: CellKey
    number: int
    role: Role
    phase: Phase | None
    since: str
    folder: str | None
    """Folder of its logs, relative to the ledger's files; None where the row does not name it."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a task left the headline set before any attempt."""

    task: str
    env: str
    outcome: str
    reason: str


@dataclass(slots=True)
class Counts:
    """Counting rows of planned attempts, except `replaced` and `duplicates`, which count superseded rows."""

    done: int = 0
    passed: int = 0
    failed: int = 0
    void: int = 0
    replaced: int = 0
    duplicates: int = 0
    """Rows for an attempt that already had one and that name no row they replace."""
    probes: int = 0
    """Rows of role `probe`: never scored."""
    reruns: int = 0
    """Attempts of role `rerun`; one that replaces a lost one counts once."""


@dataclass(slots=True)
class RunState:
    """All that is known from the rows folded so far."""

    run: RunRow | None = None
    """The first `run` row; its rule is the registered one."""
    resumes: int = 0
    tasks: dict[str, TaskRow] = field(default_factory=dict)
    environments: dict[str, EnvRow] = field(default_factory=dict)
    agents: list[str] = field(default_factory=lambda: [""])
    attempts: int = 1
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    excluded: dict[str, Exclusion] = field(default_factory=dict)
    screened: dict[tuple[str, str], str] = field(default_factory=dict)
    """(task, environment) -> outcome of its clean verify."""
    status: Status = "empty"
    why: str | None = None
    """Reason given with the last `stopped` or `ended` row."""
    last_at: str = ""
    rows: int = 0
    head: str = ""
    """`sha` of the last row."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Things the fold could not place, by what they were; shown, never guessed."""
    registered: dict[CellKey, int] = field(default_factory=dict)
    """Cell -> fresh attempts registered for it."""
    counts: Counts = field(default_factory=Counts)
    void_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(first cause, agent) -> counting rows."""
    damage: list[str] = field(default_factory=list)
    """What the reader found wrong with the ledger, one line each; any entry stops every gate."""
    seen_tasks: dict[str, None] = field(default_factory=dict)
    seen_envs: dict[str, None] = field(default_factory=dict)
    agents_known: bool = False
    idle: Counter[str] = field(default_factory=Counter)
    """agent -> counting rows with an empty patch and no usage."""
    jobs_asked: int | None = None
    """Attempts at once, as asked for since the last `run` row; None where nobody asked."""
    walls: list[int] = field(default_factory=list)
    """Milliseconds of the last attempts with a verdict, newest last, at most WALLS_KEPT."""

    @property
    def rule(self) -> Rule:
        """The sealed rule; for a ledger without a `run` row the published defaults."""
        return self.run.rule if self.run is not None else DEFAULT_RULE

    @property
    def subject(self) -> str:
        """What was verified: clean, reference, patch or agent. Without a `run` row: agent where one is named."""
        if self.run is not None:
            return self.run.subject
        return "agent" if any(self.agents) else "clean"

    @property
    def jobs(self) -> int:
        """Attempts at once: what was asked for last, else what the run began with."""
        return self.jobs_asked or (self.run.jobs if self.run is not None else 1)

    @property
    def planned(self) -> int:
        """Attempts planned: tasks not excluded x environments x agents x attempts."""
        return len(self.counted_tasks()) * len(self.env_names()) * len(self.agents) * self.attempts

    @property
    def done(self) -> int:
        """Planned attempts with a counting row."""
        return self.counts.done

    @property
    def passed(self) -> int:
        """Counting rows that passed."""
        return self.counts.passed

    @property
    def failed(self) -> int:
        """Counting rows that failed."""
        return self.counts.failed

    @property
    def voided(self) -> int:
        """Counting rows without a verdict."""
        return self.counts.void

    @property
    def replaced(self) -> int:
        """Rows of lost attempts that were run again."""
        return self.counts.replaced

    @property
    def over(self) -> bool:
        """Whether no further row is expected unless somebody resumes the run."""
        return self.status in ("stopped", "ended", "empty")

    def task_names(self) -> list[str]:
        """All tasks in ledger order: declared ones, then those that only attempts name."""
        return list(self.seen_tasks)

    def counted_tasks(self) -> list[str]:
        """Tasks of the headline set: all but the excluded."""
        return [name for name in self.seen_tasks if name not in self.excluded]

    def env_names(self) -> list[str]:
        """All environments in ledger order."""
        return list(self.seen_envs)

    def cell(self, task: str, env: str, agent: str) -> Cell:
        """The cell, or an empty one where no row has named it."""
        return self.cells.get((task, env, agent), _ABSENT)


WALLS_KEPT = 200
DEFAULT_RULE = Rule(
    flip_rate=str(Fraction(1, 10)), min_pairs=str(Fraction(9, 10)), attempts=1, verify_replays=0
)
