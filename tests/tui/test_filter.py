"""The filter language: what a person types, what it finds, and what it says of what it cannot read."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui_bench.tui.filter import EVERYTHING, NAMES, Filter, FilterError, Word, parse_filter

ROW = {
    "task": "t04_tz_shift", "env": "sandbox-2", "agent": "Claude 2.1", "void": "oracle_mutated", "passed": "null",
    "kind": "attempt", "seq": "1204", "text": "attempt t04_tz_shift AssertionError: 3 != 4",
}  # fmt: skip
EVENT = {"task": "", "env": "", "agent": "", "void": "", "passed": "", "kind": "event beat", "seq": "7", "text": "beat"}


@pytest.mark.parametrize(
    ("text", "row", "event"),
    [
        ("", True, True),
        ("   ", True, True),
        ("task:tz", True, False),
        ("task:TZ_shift", True, False),
        ("TASK:t04*", True, False),
        ("task:tz*", False, False),
        ("task:t*tz*ift", True, False),
        ("void:*", True, False),
        ("!void:*", False, True),
        ('void:""', False, True),
        ("passed:null", True, False),
        ("passed:NULL", True, False),
        ("passed:true", False, False),
        ("!passed:true", True, True),
        ("kind:beat", False, True),
        ("kind:attempt kind:beat", True, True),
        ("env:sandbox env:nowhere", True, False),
        ("env:sandbox task:nowhere", False, False),
        ("seq:1204", True, False),
        ("seq:1-10", False, True),
        ("seq:1000-", True, False),
        ("!seq:1-10", True, False),
        ("seq:120", False, False),
        ("assertionerror", True, False),
        ("!assertionerror", False, True),
        ('"3 != 4"', True, False),
        ('agent:"claude 2.1"', True, False),
        ("asserterror beat", False, False),
        ("tz !beat", True, False),
        ('"*"', False, False),
        ("*error*", True, False),
    ],
)
def test_words_find_what_they_say(text: str, row: bool, event: bool) -> None:
    found = parse_filter(text)
    assert (found.matches(ROW), found.matches(EVENT)) == (row, event)


@pytest.mark.parametrize(
    ("text", "named", "cure"),
    [
        ("tsk:a", "tsk:", "task:"),
        ("colour:red", "colour:", "known:"),
        ("task:", "task:", "nothing follows"),
        ("env:a task: x", "task:", "nothing follows"),
        ("!", "!", "nothing follows"),
        ('""', '""', "nothing follows"),
        ('env:"a b', 'env:"a b', "not closed"),
        ("passed:maybe", "passed:maybe", "true, false or null"),
        ("seq:abc", "seq:abc", "number"),
        ("seq:9-3", "seq:9-3", "ends before"),
        ("seq:-3", "seq:-3", "number"),
        ("seq:" + "9" * 30, "seq:999", "number"),
        ("x" * 2000, "2000", "at most"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line_with_the_word(text: str, named: str, cure: str) -> None:
    with pytest.raises(FilterError) as error:
        parse_filter(text)
    assert named in str(error.value) and cure in str(error.value)
    assert "\n" not in str(error.value)


def test_a_cell_without_text_is_searched_in_all_its_fields() -> None:
    assert parse_filter("t01 here").matches({"task": "t01", "env": "here"})
    assert not parse_filter("there").matches({"task": "t01", "env": "here"})


def test_many_stars_cost_no_time() -> None:
    assert not parse_filter("task:" + "*a" * 400 + "*b").matches({"task": "a" * 20_000})


fields = st.dictionaries(st.sampled_from([name for name in NAMES if name != "seq"]), st.text(max_size=12))
plain = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6)


@given(st.text(max_size=60) | st.text("!:\"\\* taskex", max_size=30))
@example("text:task:x text:!x !text:!x")
def test_any_text_is_read_or_refused_in_words_and_never_fails_otherwise(text: str) -> None:
    try:
        found = parse_filter(text)
    except FilterError as error:
        assert str(error)
        return
    assert parse_filter(str(found)) == found
    found.matches(ROW)


@given(st.sampled_from([name for name in NAMES if name not in ("seq", "passed")]), st.text(min_size=1), st.booleans())
def test_a_quoted_value_stands_for_itself(name: str, value: str, inverse: bool) -> None:
    word = Word(name, value, inverse, quoted=True)  # type: ignore[arg-type]
    if len(str(word)) <= 1000:
        assert parse_filter(str(word)) == Filter((word,))
        assert Filter((word,)).matches({name: f"<{value}>"}) is not inverse


@given(fields, plain)
def test_the_inverse_is_the_contrary(row: dict[str, str], value: str) -> None:
    for name in ("task", "env", "agent", "void", "kind"):
        assert parse_filter(f"{name}:{value}").matches(row) is not parse_filter(f"!{name}:{value}").matches(row)


@given(st.lists(st.text("ab*", max_size=4), max_size=6).map("".join), st.text("ab", max_size=12))
def test_stars_mean_what_a_pattern_means(pattern: str, text: str) -> None:
    if "*" not in pattern:
        return
    whole = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL)
    assert parse_filter(f"task:{pattern}").matches({"task": text}) is bool(whole and text)


@given(fields)
def test_nothing_asked_finds_everything(row: dict[str, str]) -> None:
    assert EVERYTHING.matches(row) and not EVERYTHING
