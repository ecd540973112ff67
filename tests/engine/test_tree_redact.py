"""Secret values are not kept, in whatever plain form an agent prints them."""

from __future__ import annotations

import base64
import json
import os
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_bench.engine import redact
from tui_bench.engine.redact import Redactor

SECRET = 'sk-proj/0+"äß\\9'


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("after", ["", "x", "yz"])
def test_b33_a_value_is_found_plain_escaped_and_in_base64_of_a_longer_text(before: str, after: str) -> None:
    whole = f"{before}{SECRET}{after}"
    redactor = Redactor([SECRET])
    forms = [
        whole, json.dumps(whole, ensure_ascii=False), urllib.parse.quote(whole, safe=""),
        base64.b64encode(whole.encode()).decode(), base64.urlsafe_b64encode(whole.encode()).decode(),
    ]  # fmt: skip
    for form in forms:
        assert "[redacted]" in redactor.clean_text(f"token {form} end"), form
        assert SECRET not in redactor.clean_text(form)


def test_other_text_and_short_values_stay(tmp_path: Path) -> None:
    redactor = Redactor(["1", "true", "", SECRET])
    assert redactor.clean_text("1 is true and caf\udce9") == "1 is true and caf\udce9"
    log = tmp_path / "log"
    log.write_bytes(b"1 is true \xff")
    inode = log.stat().st_ino
    assert not redactor.clean_file(log)
    assert (log.read_bytes(), log.stat().st_ino) == (b"1 is true \xff", inode)


def test_without_values_nothing_changes() -> None:
    assert Redactor([]).clean_bytes(b"anything") == b"anything"


def test_one_value_that_contains_another_is_replaced_whole() -> None:
    assert Redactor(["secret", "secret-and-more"]).clean_bytes(b"secret-and-more secret") == b"[redacted] [redacted]"


def test_a_file_keeps_everything_else_and_its_mode(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    log.write_bytes(b"\x00start " + SECRET.encode() + b" end \xff")
    log.chmod(0o640)
    assert Redactor([SECRET]).clean_file(log)
    assert log.read_bytes() == b"\x00start [redacted] end \xff"
    assert log.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["agent.log"]


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from([b"secret-value", b"secret", b"-value", b"s", b"secret-val", b"x" * 9, b"\n"]), max_size=30
    ),
    chunk=st.integers(1, 40),
)
def test_a_value_across_any_chunk_boundary_is_found_as_in_one_piece(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], chunk: int
) -> None:
    content = b"".join(parts)
    redactor = Redactor(["secret-value", "secret"])
    file = tmp_path_factory.getbasetemp() / "chunked"
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redact, "CHUNK", chunk)
        changed = redactor.clean_file(file)
    assert file.read_bytes() == redactor.clean_bytes(content)
    assert changed == (redactor.clean_bytes(content) != content)
