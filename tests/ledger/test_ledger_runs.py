"""Names and places of a run's files."""

import os
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_bench.errors import UsageError
from tui_bench.ledger.runs import Layout, default_ledger, new_run_id, slug

ODD_IDS = ("org/repo-12", "fix the parser", "a:b", "a/b", "A:B", ".", "..", "-rf", "", "\0", "caf\udce9", "é", "e" * 99)


@pytest.mark.parametrize("name", ODD_IDS)
def test_b53_any_id_becomes_one_plain_folder_name(tmp_path, name):
    folder = slug(name)
    assert re.fullmatch(r"([A-Za-z0-9_][A-Za-z0-9._-]{0,39}-)?[0-9a-f]{8}", folder)
    os.mkdir(tmp_path / folder)
    assert os.listdir(tmp_path) == [folder]


def test_b53_ids_that_look_alike_get_distinct_folders():
    names = [*ODD_IDS, "org-repo-12", "org:repo-12", "ORG/repo-12", "a b", "a-b", "e" * 98]
    folders = {unicodedata.normalize("NFC", slug(name)).casefold() for name in names}
    assert len(folders) == len(names)


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_b53_every_id_is_safe(name):
    assert re.fullmatch(r"([A-Za-z0-9_][A-Za-z0-9._-]{0,39}-)?[0-9a-f]{8}", slug(name))


def test_a_slug_can_be_recognised_by_a_person():
    assert slug("t01_page_boundary").startswith("t01_page_boundary-")


def test_a_run_id_is_the_time_and_four_hex_digits():
    assert new_run_id({}, now=1_790_000_000.9, token="beef") == "20260921T141320Z-beef"
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", new_run_id({"RUN_ID": ""}))


def test_run_id_of_the_caller_is_taken():
    assert new_run_id({"RUN_ID": "nightly-2026.11.29"}) == "nightly-2026.11.29"


@pytest.mark.parametrize("given_id", ["a/b", "..", ".hidden", "-x", "a b", "x" * 65, "a\n", "é"])
def test_a_run_id_that_is_no_file_name_is_refused_in_one_line(given_id):
    with pytest.raises(UsageError, match="RUN_ID") as raised:
        new_run_id({"RUN_ID": given_id})
    assert "\n" not in str(raised.value)


def test_everything_lies_beside_the_ledger():
    layout = Layout(default_ledger("r1", Path("/w")))
    assert layout.ledger == Path("/w/runs/r1.jsonl")
    assert layout.files == Path("/w/runs/r1")
    assert (layout.plan.name, layout.runner.name, layout.runner_log.name) == ("plan.json", "runner.json", "runner.log")
    first = layout.attempt_folder("t/1", "utc", "strong", 0)
    assert first == layout.files / "attempts" / slug("t/1") / slug("utc") / slug("strong") / "0"
    assert layout.attempt_folder("t/1", "utc", None, 2, repeat=1).parts[-2:] == ("-", "2.r1")
    assert layout.screen_folder("t/1", "utc") == layout.files / "screen" / slug("t/1") / slug("utc")
    assert layout.relative(first / "agent.log") == f"attempts/{slug('t/1')}/{slug('utc')}/{slug('strong')}/0/agent.log"


@pytest.mark.parametrize(
    ("ledger", "files"), [("out/F.jsonl", "out/F"), ("F", "F.files"), ("runs/v1.2.jsonl", "runs/v1.2")]
)
def test_the_files_folder_is_never_the_ledger_itself(ledger, files):
    assert Layout(Path(ledger)).files == Path(files)
