"""Study files are read from this part of YAML: mappings, lists and scalars as written, each with its line.

The parser is PyYAML's; nothing is resolved. A scalar keeps its source text, and what it means is decided by the field
that reads it, so `off`, `010`, `12:30` and `2026-09-13` cannot turn into something else on the way. Tags, anchors,
aliases, merge keys, repeated keys and further documents are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from tui_bench.study.reading import Reading, show

DEPTH_LIMIT = 16
_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as written. Lines are 1-based.

    `style`: `plain` YAML, `quoted` (in quotes or in a block), or the `cell` of a table, where `~` is a path.
    """

    text: str
    style: Literal["plain", "quoted", "cell"]
    line: int

    @property
    def empty(self) -> bool:
        """True for nothing at all, and for YAML's `~` and `null`."""
        return self.text in _NULLS if self.style == "plain" else self.style == "cell" and not self.text


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    nodes: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping. Keys are unique, in written order; `lines` holds the line of each key."""

    nodes: dict[str, Node]
    lines: dict[str, int]
    line: int


Node = Scalar | Items | Entries


class _Refused(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read(file: Path, reading: Reading) -> Node | None:
    """The node tree of a file, or None after noting why there is none."""
    text = reading.text(file)
    return None if text is None else parse(text, file, reading)


def parse(text: str, file: Path, reading: Reading) -> Node | None:
    """The node tree of a text, or None after noting what is wrong. `file` is only named, not opened."""
    builder = _Builder(yaml.parse(text, Loader=yaml.SafeLoader), file, reading)
    try:
        return builder.document()
    except _Refused as refusal:
        reading.problem(file, refusal.line, str(refusal))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = " ".join(str(error.problem or error.context).split())
        reading.problem(file, mark.line + 1 if mark else None, f"is not valid YAML: {words}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reading.problem(file, line, "is not valid YAML: a control character; remove it or write it as an escape")
    except (ValueError, OverflowError) as error:
        # The scanner converts escapes and versions with chr() and int(), which raise on numbers out of range.
        reading.problem(file, None, f"is not valid YAML: {show(str(error))}")
    return None


class _Builder:
    def __init__(self, events: Iterator[yaml.Event], file: Path, reading: Reading) -> None:
        self._events = events
        self._file = file
        self._reading = reading

    def document(self) -> Node:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return Scalar("", "plain", 1)
        root = self._node(next(self._events), 0)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise _Refused(_line(after), "a second document begins; a study file holds one")
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused(line, "anchors and aliases (& and *) are not read; write the value out")
        tag = getattr(event, "tag", None)
        if tag:
            raise _Refused(line, f"tag {show(str(tag))} is not read; write a plain value")
        if depth > DEPTH_LIMIT:
            raise _Refused(line, f"is nested deeper than {DEPTH_LIMIT} levels")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            nodes: list[Node] = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                nodes.append(self._node(item, depth + 1))
            return Items(tuple(nodes), line)
        return self._mapping(line, depth)

    def _mapping(self, line: int, depth: int) -> Entries:
        nodes: dict[str, Node] = {}
        lines: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                raise _Refused(key.line, "a key must be a single word, not a list or a mapping")
            if key.text in nodes:
                self._reading.problem(
                    self._file, key.line, f"duplicate key {show(key.text)}; first on line {lines[key.text]}"
                )
                continue
            nodes[key.text] = value
            lines[key.text] = key.line
        return Entries(nodes, lines, line)


def _scalar(event: yaml.ScalarEvent) -> Scalar:
    line = _line(event)
    if "\0" in event.value or any("\ud800" <= char <= "\udfff" for char in event.value):
        raise _Refused(line, "holds an escape for NUL or half a character; no value may")
    return Scalar(event.value, "plain" if event.style is None else "quoted", line)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
