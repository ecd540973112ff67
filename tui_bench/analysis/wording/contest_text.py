"""The first line for two or more agents: what the person came for, before any gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_bench.analysis.wording.numbers import FIRST_LINE, cells, counted, fit, p_text

if TYPE_CHECKING:
    from tui_bench.analysis.contest import Contest

_SHORTEST_NAME = 4


def contest_line(contest: Contest) -> str:
    """`NO WINNER YET  A 5 : B 3 of 15 pairs, 9 left, 2-4 min; box moved 1 task`, within 80 cells."""
    longest = max(cells(name) for name in contest.agents)
    whole = _line(contest, longest, timed=True)
    if cells(whole) <= FIRST_LINE:
        return whole
    # The time left goes before a letter of a name does.
    for room in range(longest, _SHORTEST_NAME, -1):
        line = _line(contest, room)
        if cells(line) <= FIRST_LINE:
            return line
    return fit(_line(contest, _SHORTEST_NAME), FIRST_LINE)


def _line(contest: Contest, room: int, *, timed: bool = False) -> str:
    names = [fit(name, room) for name in contest.agents]
    join = " : " if len(names) == 2 else ", "
    score = join.join(f"{name} {wins}" for name, wins in zip(names, contest.wins, strict=True))
    of = f"{score} of {contest.closed} pairs" if len(names) == 2 else f"{score} of {contest.closed} tasks"
    moved = f"box moved {counted(contest.moved, 'task')}"
    if contest.left or not contest.over:
        eta = f", {_span(*contest.eta_s)}" if timed and contest.eta_s is not None else ""
        return f"NO WINNER YET  {of}, {_left(contest)}{eta}; {moved}"
    tested = f", {p_text(float(contest.p), 'mid-p')}" if contest.p is not None else ""
    head = "NO WINNER" if contest.winner is None else f"WINNER {fit(contest.winner, room)}"
    return f"{head}  {of}{tested}; {moved}"


def _left(contest: Contest) -> str:
    if contest.left:
        return f"{contest.left} left"
    return f"{counted(contest.attempts_left, 'attempt')} left" if contest.attempts_left else "run not over"


def _span(low: float, high: float) -> str:
    """`20-40 s`, `2-4 min`, `1-2 h`: the unit of the upper end, both ends rounded away from each other's middle."""
    unit, size = ("s", 1) if high < 90 else ("min", 60) if high < 5_400 else ("h", 3_600)
    first, last = max(0, int(low // size)), max(1, -int(-high // size))
    return f"{last} {unit}" if first >= last else f"{first}-{last} {unit}"
