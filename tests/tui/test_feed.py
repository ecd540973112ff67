"""The feed: whole rows only, each once, in bounded pieces; a ledger that is cut or replaced starts anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tui_ledgers import TASKS, Book, story

from tui_bench.analysis.banner import banner
from tui_bench.analysis.state import RunState
from tui_bench.reading import read_ledger
from tui_bench.tui.feed import POLL_BYTES, ROWS_A_STEP, STEP_S, Feed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def drained(feed: Feed) -> RunState:
    while feed.step().behind:
        pass
    return feed.state


def same(one: RunState, other: RunState) -> None:
    """Two states say the same: in words, in counts and cell by cell."""
    assert banner(one) == banner(other)
    assert (one.counts, one.head, one.rows, one.excluded) == (other.counts, other.head, other.rows, other.excluded)
    for key, cell in other.cells.items():
        assert [one.cells[key].code(n) for n in range(len(cell))] == [cell.code(n) for n in range(len(cell))]
        assert [one.cells[key].offset(n) for n in range(len(cell))] == [cell.offset(n) for n in range(len(cell))]


def test_the_state_is_that_of_the_whole_ledger(path: Path) -> None:
    story(path).close()
    same(drained(Feed(path)), read_ledger(path))


def test_b18_a_row_in_two_halves_counts_once_when_it_is_whole(path: Path) -> None:
    story(path).close()
    whole = path.read_bytes()
    feed = Feed(path)
    for cut in (len(whole) - 700, len(whole) - 350, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        drained(feed)
        assert feed.state.rows == whole[:cut].count(b"\n")
        assert feed.state.damage == []
    same(feed.state, read_ledger(path))


def test_rows_come_in_bounded_steps(path: Path) -> None:
    story(path).close()
    line = b'{"kind":"later","v":1}\n'
    with path.open("ab") as handle:
        handle.write(line * 60_000)
    feed = Feed(path)
    steps = 0
    while True:
        step = feed.step()
        steps += 1
        # One poll may go over the limit, never two.
        assert step.rows <= ROWS_A_STEP + POLL_BYTES // len(line) + 1
        if not step.behind:
            break
    assert steps > 1
    assert feed.state.unknown["rows of kind later"] == 60_000


def test_a_step_ends_when_its_time_is_up(path: Path) -> None:
    story(path).close()
    with path.open("ab") as handle:
        handle.write(b'{"kind":"later","v":1}\n' * 100_000)
    feed = Feed(path, monotonic=ticking(STEP_S))
    assert feed.step().behind


def ticking(step: float) -> Callable[[], float]:
    now = 0.0

    def monotonic() -> float:
        nonlocal now
        now += step
        return now

    return monotonic


def test_damaged_lines_are_named_and_the_rest_is_read(path: Path) -> None:
    story(path, upto=2).close()
    with path.open("ab") as handle:
        handle.write(b"\x1b[31mnot a row\n" + b"{}\n" * 50)
    feed = Feed(path)
    drained(feed)
    assert feed.state.rows > 10
    assert len(feed.state.damage) == 20
    assert feed.state.damage[0].startswith("line ")


@pytest.mark.parametrize("how", ["cut", "replaced", "removed"])
def test_a_ledger_that_is_another_one_starts_a_new_state(path: Path, tmp_path: Path, how: str) -> None:
    story(path).close()
    feed = Feed(path)
    drained(feed)
    if how == "cut":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    elif how == "replaced":
        book = Book(tmp_path / "new.jsonl")
        book.begin(["another"])
        book.close()
        (tmp_path / "new.jsonl").rename(path)
    else:
        path.unlink()
    step = feed.step()
    assert step.reset
    assert feed.state.counts.done == 0
    assert (feed.state.task_names() == list(TASKS[:2])) is (how == "cut")
    assert feed.file_state == ("missing" if how == "removed" else "reading")


def test_nothing_new_costs_no_change(path: Path) -> None:
    story(path).close()
    feed = Feed(path)
    drained(feed)
    step = feed.step()
    assert (step.rows, step.changed, step.reset, step.behind) == (0, frozenset(), False, False)


def test_age_of_the_last_arrival_is_known_only_for_what_was_seen_to_arrive(path: Path) -> None:
    book = story(path, upto=1)
    feed = Feed(path)
    drained(feed)
    assert feed.quiet_s is None, "what was there before may be of any age"
    book.event("beat")
    feed.step()
    assert feed.quiet_s is not None
    assert feed.quiet_s < 5
    book.close()
