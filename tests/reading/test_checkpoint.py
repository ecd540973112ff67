"""A large ledger opened again: the same state in a fraction of the time, and nothing believed that does not hold."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tui_bench import checkpoint
from tui_bench.analysis.banner import banner
from tui_bench.analysis.state import Cell, Code, RunState
from tui_bench.ledger.canonical import seal
from tui_bench.ledger.rows import AttemptRow, EventRow, PhasesMs, Resources
from tui_bench.ledger.runs import Layout
from tui_bench.ledger.tail import Tail
from tui_bench.ledger.writer import LedgerWriter
from tui_bench.reading import find_damage, read_ledger
from tui_bench.tui.feed import Feed

TASKS = 40


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ledger is large enough, and the key is this test's own."""
    monkeypatch.setattr(checkpoint, "BYTES_LEAST", 10_000)
    monkeypatch.setattr(checkpoint, "ROWS_LEAST", 20)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def attempt(number: int) -> AttemptRow:
    passed = {0: True, 1: False, 2: None}[number % 3]
    return AttemptRow(
        run_id="r", task=f"t{number % TASKS}", env=("a", "b")[number // TASKS % 2], attempt=number // (2 * TASKS),
        attempt_id=f"{number:016x}", agent="one", mode="full", role="probe" if number % 17 == 0 else "planned",
        replaces=None, env_sha=None, passed=passed, exit_code=None if passed is None else int(not passed), signal=None,
        void="infra" if passed is None else None, void_causes=[], wall_ms=number, phases_ms=PhasesMs(), verify_cmd="v",
        verify_runs=[0, 1] if number % 13 == 0 else [0], verify_stdout_tail=None, verify_stderr_tail=None, agent_exit=0,
        agent_signal=None, capped=False, tokens_in=None, tokens_out=None, tokens_cached=None, usage_source=None,
        patch_sha256="empty", dropped=[], task_sha="0" * 64, oracle_sha=None, prompt_sha=None, resources=Resources(),
        host_load=None, enforced={}, order_index=None, files={},
    )  # fmt: skip


def write(path: Path, first: int, last: int) -> None:
    writer = LedgerWriter.open(path)
    for number in range(first, last):
        writer.append(attempt(number))
        if number % 10 == 0:
            started = EventRow(run_id="r", task="t1", env="a", event="started", attempt_id="x", number=9, agent="one",
                               role="planned", detail={"folder": "f"})  # fmt: skip
            writer.append(started)
    writer.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    Layout(path).files.mkdir()
    write(path, 0, 200)
    return path


def plain(state: RunState) -> object:
    """Everything a state holds, cells slot by slot."""
    cells = {key: {name: getattr(cell, name) for name in Cell.__slots__} for key, cell in state.cells.items()}
    rest = {name: getattr(state, name) for name in RunState.__dataclass_fields__ if name != "cells"}
    return cells, rest


def believed(ledger: Path) -> bool:
    return checkpoint.load(ledger) is not None


def test_the_state_from_a_checkpoint_is_the_state_of_a_whole_reading(ledger: Path) -> None:
    whole = read_ledger(ledger)
    assert believed(ledger)
    again = read_ledger(ledger)
    assert plain(again) == plain(whole) and banner(again) == banner(whole)
    assert again.cell("t1", "a", "one").code(0) is Code.FAIL
    write(ledger, 200, 230)
    grown = read_ledger(ledger)
    checkpoint.place_of(ledger).unlink()
    assert plain(read_ledger(ledger)) == plain(grown)
    assert grown.rows == 230 + 23


def test_places_of_replaced_rows_are_kept(ledger: Path) -> None:
    writer = LedgerWriter.open(ledger)
    for number in (2, 5, 2):
        writer.append(msgspec.structs.replace(attempt(number), attempt_id="f" * 16, replaces=1))
    writer.close()
    whole = read_ledger(ledger)
    assert believed(ledger)
    places = read_ledger(ledger).cell("t2", "a", "one").superseded
    assert places == whole.cell("t2", "a", "one").superseded
    assert [number for number, _ in places] == [0, 0] and places[0][1] < places[1][1]


def test_only_what_is_new_is_folded(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_ledger(ledger)
    write(ledger, 200, 203)
    seen: list[int] = []
    from tui_bench import reading

    parse = reading.parsed
    monkeypatch.setattr(reading, "parsed", lambda raw: seen.append(raw.number) or parse(raw))  # type: ignore[func-returns-value]
    state = read_ledger(ledger)
    assert seen == [221, 222, 223, 224] and state.rows == 224 and state.damage == []
    seen.clear()
    assert find_damage(ledger) == [] and seen == [221, 222, 223, 224]


def other_verdict(ledger: Path) -> None:
    """One verdict changed in place, its digest and all later ones computed anew."""
    from tui_bench.ledger.lines import parse

    rows, prev = [], "0" * 64
    for number, line in enumerate(ledger.read_bytes().splitlines()):
        row = parse(line)
        assert isinstance(row, AttemptRow | EventRow)
        if number == 3 and isinstance(row, AttemptRow):
            row.passed, row.void, row.exit_code = True, None, 0
        sealed = seal(row, number + 1, prev, row.at)
        prev = sealed.sha
        rows.append(sealed.line + b"\n")
    ledger.write_bytes(b"".join(rows))


def flipped(place: Callable[[bytes], int]) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[place(bytes(data))] ^= 1
        path.write_bytes(data)

    return change


@pytest.mark.parametrize(
    "change",
    [flipped(lambda data: data.index(b'"wall_ms":10}') + 10), flipped(lambda data: 100), other_verdict],
    ids=["a digit", "a byte", "a chain computed anew"],
)
def test_a_tampered_prefix_is_never_believed(ledger: Path, change: Callable[[Path], None]) -> None:
    before = read_ledger(ledger)
    kept = checkpoint.place_of(ledger).read_bytes()
    change(ledger)
    assert not believed(ledger)
    checkpoint.place_of(ledger).unlink()
    expected = read_ledger(ledger)
    checkpoint.place_of(ledger).write_bytes(kept)
    assert plain(read_ledger(ledger)) == plain(expected) != plain(before)


@pytest.mark.parametrize("where", [0, 20, 60, 200, -1])
def test_a_tampered_checkpoint_is_never_believed(ledger: Path, where: int) -> None:
    whole = read_ledger(ledger)
    flipped(lambda data: where % len(data))(checkpoint.place_of(ledger))
    assert not believed(ledger)
    assert plain(read_ledger(ledger)) == plain(whole)


def test_a_checkpoint_sealed_with_another_key_is_never_believed(ledger: Path, tmp_path: Path) -> None:
    """Whoever can write beside the ledger can compute every digest, but not the seal."""
    read_ledger(ledger)
    key = tmp_path / "state" / "tui_bench" / checkpoint.KEY_NAME
    assert key.stat().st_mode & 0o777 == 0o600
    key.write_bytes(hashlib.sha256(b"another").digest())
    assert not believed(ledger)
    key.unlink()
    assert not believed(ledger)
    key.write_bytes(b"short")
    assert not believed(ledger)


def test_a_key_that_others_can_read_is_not_used(ledger: Path, tmp_path: Path) -> None:
    read_ledger(ledger)
    os.chmod(tmp_path / "state" / "tui_bench" / checkpoint.KEY_NAME, 0o644)
    assert not believed(ledger)


def test_other_code_does_not_believe_it(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_ledger(ledger)
    monkeypatch.setattr(checkpoint, "_code_digest", lambda: b"x" * 32)
    assert not believed(ledger)


@pytest.mark.parametrize("rest", [b"", b"tui_bench fold 1\n", os.urandom(500)])
def test_noise_in_its_place_is_passed_over(ledger: Path, rest: bytes) -> None:
    whole = read_ledger(ledger)
    checkpoint.place_of(ledger).write_bytes(rest)
    assert plain(read_ledger(ledger)) == plain(whole)


def test_a_ledger_that_was_cut_or_replaced_is_read_anew(ledger: Path) -> None:
    read_ledger(ledger)
    whole = ledger.read_bytes()
    ledger.write_bytes(b"".join(whole.splitlines(keepends=True)[:150]))
    assert not believed(ledger)
    assert read_ledger(ledger).rows == 150


def test_damage_is_never_put_into_a_checkpoint(ledger: Path) -> None:
    rows = ledger.read_bytes().splitlines(keepends=True)
    rows[50] = b"{\n"
    ledger.write_bytes(b"".join(rows))
    assert read_ledger(ledger).damage
    assert not checkpoint.place_of(ledger).exists()


def test_damage_after_a_checkpoint_is_found(ledger: Path) -> None:
    read_ledger(ledger)
    with ledger.open("ab") as file:
        file.write(b"{\n")
    assert [line.split(":")[0] for line in read_ledger(ledger).damage] == ["line 221"]
    assert [line.split(":")[0] for line in find_damage(ledger)] == ["line 221"]


def test_a_row_of_an_unknown_kind_at_the_end_does_not_break_the_chain(ledger: Path) -> None:
    head = read_ledger(ledger).head
    body = {"kind": "surprise", "prev": head, "run_id": "r", "seq": 221, "v": 1}
    sha = hashlib.sha256(msgspec.json.encode(body, order="sorted")).hexdigest()
    with ledger.open("ab") as file:
        file.write(msgspec.json.encode({**body, "sha": sha}, order="sorted") + b"\n")
    checkpoint.place_of(ledger).unlink()
    assert read_ledger(ledger).damage == []
    found = checkpoint.load(ledger)
    assert found is not None and (found.lines, found.head) == (221, sha)
    write(ledger, 200, 202)
    assert read_ledger(ledger).damage == []


def test_no_folder_is_made_and_small_ledgers_have_none(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "ROWS_LEAST", 10_000)
    read_ledger(ledger)
    assert not checkpoint.place_of(ledger).exists()
    monkeypatch.setattr(checkpoint, "ROWS_LEAST", 20)
    for file in Layout(ledger).files.iterdir():
        file.unlink()
    Layout(ledger).files.rmdir()
    read_ledger(ledger)
    assert not Layout(ledger).files.exists()


def followed(ledger: Path) -> tuple[Feed, int]:
    """A feed that has caught up, and how many lines it folded itself."""
    feed = Feed(ledger)
    folded = 0
    while True:
        step = feed.step()
        folded += 0 if step.reset else step.rows
        if not step.behind:
            return feed, folded


def test_the_screen_goes_on_from_a_checkpoint_and_follows_what_comes(ledger: Path) -> None:
    whole = read_ledger(ledger)
    feed, folded = followed(ledger)
    assert plain(feed.state) == plain(whole) and folded == 0
    write(ledger, 200, 205)
    feed.step()
    assert feed.state.rows == 226 and plain(feed.state) == plain(read_ledger(ledger))
    rows = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(rows[:30]))
    step = feed.step()
    assert step.reset and feed.state.rows == 30
    feed.close()


def test_the_screen_folds_from_the_first_row_where_the_prefix_was_changed(ledger: Path) -> None:
    read_ledger(ledger)
    other_verdict(ledger)
    feed, folded = followed(ledger)
    assert folded == 220 and feed.state.cell("t2", "a", "one").code(0) is Code.PASS
    feed.close()


def test_a_file_that_changed_after_the_prefix_was_verified_is_read_from_its_start(ledger: Path) -> None:
    read_ledger(ledger)
    found = checkpoint.load(ledger)
    assert found is not None
    rows = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(rows[:-1]) + rows[-1].replace(b':199}', b':198}') + rows[0])
    tail = Tail(ledger)
    tail.begin_at(found.offset, found.lines + 1, found.before)
    lines = tail.poll()
    assert tail.reset and lines[0].number == 1 and len(lines) == 221
    tail.close()
