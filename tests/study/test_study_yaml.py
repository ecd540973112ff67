"""YAML as strictly as DESIGN 4 asks: taken as written, or refused with key and line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tui_bench.study.reading import TEXT_LIMIT, Reading
from tui_bench.study.strict_yaml import Entries, Items, Scalar, parse


def tree(text: str) -> Entries:
    reading = Reading()
    node = parse(text, Path("f.yaml"), reading)
    reading.finish()
    assert isinstance(node, Entries)
    return node


@pytest.mark.parametrize("text", ["off", "1e3", "010", "12:30", "2026-09-13", "0x1f", "1_000", "yes", "True", "="])
def test_b49_scalars_keep_the_text_a_person_wrote(text: str) -> None:
    assert tree(f"key: {text}").nodes["key"] == Scalar(text, "plain", 1)


def test_every_key_and_item_has_its_line() -> None:
    node = tree("# first\na: 1\n\nb:\n  - x\n  - {c: y}\n")
    assert node.lines == {"a": 2, "b": 4}
    items = node.nodes["b"]
    assert isinstance(items, Items)
    assert [item.line for item in items.nodes] == [5, 6]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\na: 2\n", 2, "duplicate key 'a'; first on line 1"),
        ("a: !!python/object:os.system x\n", 1, "tag"),
        ("a: !mine x\n", 1, "tag '!mine' is not read"),
        ("\na: &x 1\nb: *x\n", 2, "anchors and aliases"),
        ("a: {b: [1, 2}\n", 1, "is not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "a second document begins"),
        ("? [a, b]\n: 1\n", 1, "a key must be a single word"),
        ("a:\n\t- b\n", 2, "is not valid YAML"),
        ('a: "\\0"\n', 1, "escape for NUL"),
        ('a: "\\ud800"\n', 1, "half a character"),
        ('a: "\\Uffffffff"\n', None, "is not valid YAML"),
        ("a: \x07\n", 1, "is not valid YAML: a control character"),
        ("[" * 60 + "]" * 60, 1, "nested deeper"),
    ],
)
def test_refused_in_one_line_with_its_place(desk, text: str, line: int | None, words: str) -> None:
    desk.study(bench_dot_yaml=text)
    where = f"bench/bench.yaml:{line}: " if line else "bench/bench.yaml: "
    assert [found for found in desk.problems() if found.startswith(where) and words in found]


def test_d22_an_alias_bomb_is_refused_at_once(desk) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 4000))
    desk.study(bench_dot_yaml=bomb[:200_000])
    begin = time.monotonic()
    assert "anchors and aliases" in desk.problem()
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"study: \xff\n", "bench/bench.yaml:1: is not UTF-8 (byte 7)"),
        (b"study: a\nx\0y: 1\n", "bench/bench.yaml:2: holds a NUL byte"),
        ("study: a\n".encode("utf-16"), "is not UTF-8"),
        (b"#" * (TEXT_LIMIT + 1), "is larger than"),
        (b"", "a study is a mapping"),
        (b"- a\n", "a study is a mapping"),
    ],
)
def test_files_that_are_no_text_of_ours(desk, data: bytes, words: str) -> None:
    desk.study(bench_dot_yaml=data)
    assert words in desk.problem()


def test_b50_a_byte_order_mark_and_crlf_change_nothing(desk) -> None:
    desk.study()
    plain = desk.load().digest
    for name in ("bench.yaml", "envs.tsv"):
        path = desk.root / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert desk.load().digest == plain
