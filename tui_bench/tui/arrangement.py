"""Which rows the grid shows, and in which order: a filter and a sort over tasks, kept up to date task by task.

A filter's `env:`, `agent:` and `task:` say which attempts are looked at, the inverse ones which are not; `passed:` and
`void:` ask whether any of those is so, the inverse ones that none is. Free text is looked for in the task's name and in
the reason of its row. Weights of a task are kept until one of its rows arrives, so a list of thousands is sorted anew
without a look at every cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from tui_bench.analysis.state import Code
from tui_bench.tui.board import Board, Column
from tui_bench.tui.filter import EVERYTHING, Filter, Word

Sort = Literal["ledger", "flips", "void", "fails", "wall"]
SORTS: tuple[Sort, ...] = get_args(Sort)
SORT_WORDS: dict[Sort, str] = {
    "ledger": "ledger order", "flips": "flips first", "void": "void first", "fails": "fails first",
    "wall": "slowest first",
}  # fmt: skip
_SCOPE = ("env", "agent", "task")
_PASSED = {Code.PASS: "true", Code.FAIL: "false", Code.VOID: "null"}


@dataclass(frozen=True, slots=True)
class Weights:
    """What the order of a task's row depends on."""

    flips: int
    voids: int
    fails: int
    wall_ms: int
    """Of its slowest attempt."""
    flaky: bool
    unequal: bool

    @property
    def notable(self) -> bool:
        """Flips, is void, flaky, or the agents disagree."""
        return bool(self.flips or self.voids or self.flaky or self.unequal)

    def of(self, sort: Sort) -> int:
        """The weight in one order; the heaviest stand first."""
        return {"ledger": 0, "flips": self.flips, "void": self.voids, "fails": self.fails, "wall": self.wall_ms}[sort]


class Arrangement:
    """Filter and sort of one board."""

    def __init__(self) -> None:
        self.filter: Filter = EVERYTHING
        self.sort: Sort = "ledger"
        self._board: Board | None = None
        self._weights: dict[str, Weights] = {}
        self._fits: dict[str, bool] = {}

    @property
    def plain(self) -> bool:
        """Every task in ledger order."""
        return not self.filter and self.sort == "ledger"

    def take(self, board: Board) -> None:
        """Arrange another board from now on."""
        self._board = board
        self._weights.clear()
        self._fits.clear()

    def touch(self, tasks: Iterable[str]) -> None:
        """Rows of these tasks have arrived."""
        for task in tasks:
            self._weights.pop(task, None)
            self._fits.pop(task, None)

    def narrow(self, wanted: Filter) -> None:
        """Show what fits this filter."""
        self.filter = wanted
        self._fits.clear()

    def tasks(self, board: Board) -> list[str]:
        """Tasks to show, in order. Equal weights stay in ledger order."""
        shown = board.tasks
        if self.filter:
            shown = [task for task in shown if self._is_wanted(board, task)]
        if self.sort != "ledger":
            shown.sort(key=lambda task: -self.weights(board, task).of(self.sort))
        return shown

    def weights(self, board: Board, task: str) -> Weights:
        """Weights of one task."""
        known = self._weights.get(task)
        if known is None:
            known = self._weights[task] = _weigh(board, task)
        return known

    def _is_wanted(self, board: Board, task: str) -> bool:
        known = self._fits.get(task)
        if known is None:
            known = self._fits[task] = fits(self.filter, board, task)
        return known


def fits(wanted: Filter, board: Board, task: str) -> bool:
    """Whether a task's row is wanted."""
    text = [word for word in wanted.words if word.name == "text"]
    if text and not _text_fits(text, board, task):
        return False
    columns = [column for column in board.columns if _in_scope(wanted, task, column)]
    if not columns:
        return False
    asked = [word for word in wanted.words if word.name not in (*_SCOPE, "text")]
    if not asked:
        return True
    found = _outcomes(board, task, columns)
    if any(word.holds(fields) for word in asked if word.inverse for fields in found):
        return False
    positive = Filter(tuple(word for word in asked if not word.inverse))
    return not positive or any(positive.matches(fields) for fields in found)


def _text_fits(words: list[Word], board: Board, task: str) -> bool:
    said = "\n".join([task, board.why(task, 0.0), *(f"{column.agent} {column.env}" for column in board.columns)])
    return Filter(tuple(words)).matches({"text": said})


def _in_scope(wanted: Filter, task: str, column: Column) -> bool:
    words = tuple(word for word in wanted.words if word.name in _SCOPE)
    return not words or Filter(words).matches({"task": task, "env": column.env, "agent": column.agent})


def _outcomes(board: Board, task: str, columns: list[Column]) -> list[dict[str, str]]:
    """The different outcomes of a task's attempts, as a filter sees them."""
    seen: set[tuple[Code, str]] = set()
    for column in columns:
        cell = board.cell(task, column)
        seen.update((cell.code(number), cell.cause(number) or "") for number in range(len(cell)))
    return [
        {"kind": "attempt", "passed": _PASSED[code], "void": cause} for code, cause in sorted(seen) if code in _PASSED
    ]


def _weigh(board: Board, task: str) -> Weights:
    voids = fails = wall = 0
    flaky = False
    for column in board.columns:
        cell = board.cell(task, column)
        flaky = flaky or cell.flaky()
        fails += cell.scored() - cell.passes()
        voids += cell.done() - cell.scored()
        wall = max([wall, *(cell.wall_ms(number) or 0 for number in range(len(cell)))])
    return Weights(sum(board.flips(task)), voids, fails, wall, flaky, board.unequal(task))
