"""The filter language of every list: named words, free text, `!` inverse, quotes, `*` for anything.

    task:t0* env:sandbox !void:* seq:100-200 "assert failed"

A value without `*` is looked for anywhere in its field; with `*` it must fit the whole field; case never matters. Words
of one name are alternatives (`env:a env:b`), different names and free texts must all hold, inverse words must all fail.
A quoted empty value (`agent:""`) stands for an empty field. Pure: text and fields in, yes or no out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Name = Literal["task", "env", "agent", "void", "passed", "kind", "seq", "text"]
NAMES: tuple[Name, ...] = get_args(Name)
TRUTH = ("true", "false", "null")
SYNTAX = "task: env: agent: void: passed: kind: seq: text, ! inverse"
LONGEST = 1000
"""Characters of a filter; nobody types more."""
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18})?)?")
_PREFIX = re.compile(r"([A-Za-z_]+):")


class FilterError(ValueError):
    """A filter that cannot be read: one line that names the word."""


@dataclass(frozen=True, slots=True)
class Word:
    """One condition. `name` is `text` for free text; `quoted` values have no `*` but a literal one."""

    name: Name
    value: str
    inverse: bool = False
    quoted: bool = False

    def __str__(self) -> str:
        value = self.value
        if self.quoted:
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        bare = self.name == "text" and not _PREFIX.match(value) and not value.startswith("!")
        return f"{'!' if self.inverse else ''}{'' if bare else self.name + ':'}{value}"

    def holds(self, fields: Mapping[str, str]) -> bool:
        """Whether the field fits, the inverse left aside."""
        if self.name == "seq":
            return _in_range(fields.get("seq", ""), self.value)
        wanted = self.value.casefold()
        found = _field(self.name, fields).casefold()
        if self.name == "passed":
            return found == wanted
        if self.quoted or "*" not in wanted:
            return wanted in found if wanted else not found
        return _fits(found, wanted.split("*")) and bool(found)


@dataclass(frozen=True, slots=True)
class Filter:
    """Words as they were typed. The one without words matches everything."""

    words: tuple[Word, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return " ".join(map(str, self.words))

    @property
    def needs_text(self) -> bool:
        """Whether free text is asked for, so that a list can spare itself the making of it."""
        return any(word.name == "text" for word in self.words)

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether a row, a task or a cell fits. `fields` holds words' names; an absent one is empty.

        Free text is looked for in `fields["text"]`, and in all fields where there is none.
        """
        named: dict[str, bool] = {}
        for word in self.words:
            held = word.holds(fields)
            if word.inverse or word.name == "text":
                if held == word.inverse:
                    return False
            elif not named.get(word.name):
                named[word.name] = held
        return all(named.values())


EVERYTHING = Filter()


def parse_filter(text: str) -> Filter:
    """Read a filter. Raises FilterError with one line."""
    if len(text) > LONGEST:
        raise FilterError(f"filter of {len(text)} characters; at most {LONGEST} are read")
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        word, at = _word(text, at)
        words.append(word)
    return Filter(tuple(words))


def _word(text: str, at: int) -> tuple[Word, int]:
    start = at
    inverse = text[at] == "!"
    at += inverse
    prefix = _PREFIX.match(text, at)
    name: Name = "text"
    if prefix is not None:
        name = _name(prefix[1])
        at = prefix.end()
    quoted = text[at : at + 1] == '"'
    value, end = _quoted(text, start, at) if quoted else _bare(text, at)
    if not value and (not quoted or name == "text"):
        shown = text[start:end] or "!"
        raise FilterError(f"{shown}: nothing follows" + ("; a task, a text ..." if shown == "!" else ""))
    _check(name, value)
    return Word(name, value, inverse, quoted), end


def _name(typed: str) -> Name:
    for name in NAMES:
        if typed.lower() == name:
            return name
    near = difflib.get_close_matches(typed.lower(), NAMES, n=1)
    cure = f"did you mean {near[0]}:" if near else f"known: {' '.join(f'{name}:' for name in NAMES)}"
    raise FilterError(f"{typed}: is no word here; {cure}, or put it in quotes to look for the text")


def _bare(text: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[at:end], end


def _quoted(text: str, start: int, at: int) -> tuple[str, int]:
    """The value of a quote that opens at `at`, and the place behind it."""
    value: list[str] = []
    at += 1
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            value.append(text[at + 1])
            at += 2
        elif text[at] == '"':
            return "".join(value), at + 1
        else:
            value.append(text[at])
            at += 1
    raise FilterError(f"{text[start:]}: the quote is not closed")


def _check(name: Name, value: str) -> None:
    if name == "passed" and value.casefold() not in TRUTH:
        raise FilterError(f"passed:{value}: is {', '.join(TRUTH[:-1])} or {TRUTH[-1]}")
    if name != "seq":
        return
    found = _RANGE.fullmatch(value)
    if found is None:
        raise FilterError(f"seq:{value}: is a number, or two such as seq:100-200")
    if found[2] and int(found[2]) < int(found[1]):
        raise FilterError(f"seq:{value}: ends before it begins")


def _in_range(found: str, value: str) -> bool:
    wanted = _RANGE.fullmatch(value)
    if wanted is None or not found.isascii() or not found.isdigit():
        return False
    low = int(wanted[1])
    high = low if "-" not in value else int(wanted[2]) if wanted[2] else None
    return low <= int(found) and (high is None or int(found) <= high)


def _field(name: Name, fields: Mapping[str, str]) -> str:
    if name == "text" and "text" not in fields:
        return "\n".join(fields.values())
    return fields.get(name, "")


def _fits(text: str, parts: list[str]) -> bool:
    """Whether `text` is the parts in order with anything between them; linear, whatever the parts are."""
    head, *middle, tail = parts
    if len(text) < len(head) + len(tail) or not text.startswith(head) or not text.endswith(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
