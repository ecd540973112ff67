"""What a check of a finished or foreign ledger finds, and that nothing in it can raise."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_samples import RUN, attempt, file_ref, note, write
from test_ledger_writer import DAMAGE, damage

from tui_bench.errors import LedgerError
from tui_bench.ledger.canonical import seal
from tui_bench.ledger.integrity import LISTED, check
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import EventRow
from tui_bench.ledger.writer import LedgerWriter


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "l.jsonl"


@pytest.fixture
def files(tmp_path) -> Path:
    folder = tmp_path / "l"
    folder.mkdir()
    return folder


def kinds(report) -> list[tuple[str, int | None]]:
    return [(finding.kind, finding.line) for finding in report.findings]


def save(files: Path, name: str, data: bytes):
    place = files / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return file_ref(name, hashlib.sha256(data).hexdigest(), len(data))


def test_a_whole_ledger_has_no_findings(path, files):
    log = save(files, "attempts/t/agent.log", b"hello")
    rows = write(path, note("a"), attempt(0, files={"agent_log": log}), attempt(1))
    report = check(path, files_root=files)
    assert report.ok and report.findings == ()
    assert (report.rows, report.head, report.files) == (3, rows[-1].sha, 1)


@pytest.mark.parametrize("how", DAMAGE)
def test_each_damage_is_found_on_its_line(path, how):
    write(path, *(note(str(number)) for number in range(5)))
    line = damage(path, how)
    report = check(path)
    assert not report.ok
    assert line in [finding.line for finding in report.findings]
    assert all("\n" not in str(finding) for finding in report.findings)


def test_one_damaged_line_is_one_finding(path):
    write(path, *(note(str(number)) for number in range(5)))
    damage(path, "not json")
    assert kinds(check(path)) == [("damaged", 3)]


def test_one_edited_line_is_one_finding(path):
    write(path, *(note(str(number)) for number in range(5)))
    damage(path, "edited")
    assert kinds(check(path)) == [("chain", 3)]


def test_any_earlier_head_is_accepted_and_any_other_is_not(path):
    rows = write(path, note("a"), note("b"), note("c"))
    for row in rows:
        assert check(path, head=row.sha).ok
        assert check(path, head=f" {row.sha.upper()}\n").ok
    report = check(path, head="ab" * 32)
    assert not report.ok and kinds(report) == [("head", None)]


def test_rows_cut_off_the_end_show_only_against_a_head(path):
    rows = write(path, note("a"), note("b"), note("c"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    assert check(path).ok
    assert not check(path, head=rows[2].sha).ok


def test_an_unfinished_tail_is_told_and_is_no_damage(path):
    write(path, note("a"))
    with open(path, "ab") as file:
        file.write(b'{"kind":')
    report = check(path)
    assert report.ok and kinds(report) == [("unfinished", None)]


def test_two_runs_in_one_ledger_are_told_apart(path, tmp_path):
    write(path, note("a"))
    write(tmp_path / "other.jsonl", note("b", run_id="other"))
    path.write_bytes(path.read_bytes() + (tmp_path / "other.jsonl").read_bytes())
    report = check(path)
    assert not report.ok and ("mixed", 2) in kinds(report)


def test_a_cell_counted_twice_is_found_a_replaced_one_is_not(path):
    void = {"passed": None, "void": "interrupted", "void_causes": ["interrupted"]}
    write(path, attempt(0, **void), attempt(0, replaces=1), attempt(1), attempt(0, role="probe"), attempt(1))
    assert kinds(check(path)) == [("duplicate", 5)]


def test_a_newer_kind_is_counted_and_its_place_in_the_chain_checked(path):
    with LedgerWriter.open(path) as writer:
        writer.append(note("a"))
        second = seal(note("b"), 2, writer.head, "")
    line = second.line.replace(b'"kind":"event"', b'"kind":"sparkle"')
    sha = hashlib.sha256(line.replace(b',"sha":"%b"' % second.sha.encode(), b"")).hexdigest()
    line = line.replace(second.sha.encode(), sha.encode())
    third = seal(note("c"), 3, sha, "")
    with open(path, "ab") as file:
        file.write(line + b"\n" + third.line + b"\n")
    report = check(path)
    assert report.ok and kinds(report) == [("unknown_kind", 2)] and report.rows == 3
    write(path, note("d"))
    assert check(path).rows == 4


def test_missing_changed_and_foreign_files_are_listed(path, files, tmp_path):
    good = save(files, "a/good.log", b"good")
    changed = save(files, "a/changed.log", b"before")
    (files / "a" / "changed.log").write_bytes(b"after!")
    gone = save(files, "a/gone.log", b"gone")
    (files / "a" / "gone.log").unlink()
    linked = save(files, "a/linked.log", b"linked")
    (files / "a" / "linked.log").rename(tmp_path / "elsewhere")
    (files / "a" / "linked.log").symlink_to(tmp_path / "elsewhere")
    (files / "linked_folder").symlink_to(files / "a")
    refs = [
        good, changed, gone, linked, file_ref("../elsewhere", linked.sha256, 6), file_ref("/etc/hosts", good.sha256, 4),
        file_ref("", good.sha256, 4), file_ref("a", good.sha256, 4), file_ref("linked_folder/good.log", good.sha256, 4),
    ]
    event = EventRow(run_id=RUN, event="screened", files={"verify_log": gone})
    write(path, *(attempt(number, files={"agent_log": ref}) for number, ref in enumerate(refs)), event)
    assert kinds(check(path, files_root=files)) == [
        ("changed_file", 2), ("missing_file", 3), ("missing_file", 4), ("foreign_path", 5), ("foreign_path", 6),
        ("foreign_path", 7), ("foreign_path", 8), ("missing_file", 9),
    ]
    assert check(path).ok, "files are looked at only where a folder is named"


def test_a_missing_files_folder_makes_every_file_missing(path, files, tmp_path):
    write(path, attempt(0, files={"patch": save(files, "p", b"x")}))
    assert kinds(check(path, files_root=tmp_path / "none")) == [("missing_file", 1)]


def test_a_thousand_bad_lines_are_counted_and_fifty_listed(path):
    path.write_bytes(b"junk\n" * 1000)
    report = check(path)
    assert report.counts["damaged"] == 1000
    assert len([finding for finding in report.findings if finding.kind == "damaged"]) == LISTED


def test_what_a_finding_quotes_cannot_drive_a_terminal(path, files):
    evil = "\x1b]52;c;AAAA\x07\u202e"
    write(path, attempt(0, task=evil, files={"patch": file_ref(evil, "0", 1)}), attempt(0, task=evil))
    text = "".join(str(finding) for finding in check(path, files_root=files).findings)
    assert text.isprintable() and "52;c" in text


def test_an_empty_ledger_is_no_evidence(path):
    path.touch()
    assert kinds(check(path)) == [("empty", None)] and not check(path).ok


def test_a_missing_ledger_is_an_error_of_ours(path):
    with pytest.raises(LedgerError, match="no such ledger"):
        check(path)


@given(st.integers(0, 1_000_000), st.binary(min_size=1, max_size=4))
def test_any_overwritten_bytes_are_found(tmp_path_factory, place, junk):
    path = tmp_path_factory.mktemp("fsck") / "l.jsonl"
    rows = write(path, note("a"), attempt(0), note("c"))
    data = path.read_bytes()
    place %= len(data) - len(junk)
    spoilt = data[:place] + junk + data[place + len(junk) :]
    path.write_bytes(spoilt)
    report = check(path, head=rows[-1].sha)
    assert (report.findings == ()) == (spoilt == data)
    assert len(list(scan(path))) == spoilt.count(b"\n")
