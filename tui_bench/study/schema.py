"""Typed readers over the node tree of a mapping.

Every reader returns None where the key is absent and also where its value is refused: the refusal is noted with file,
line and cure, and the load ends after all files were read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from tui_bench.study.names import unknown, variable_fault
from tui_bench.study.ranges import RATE, Range
from tui_bench.study.reading import Reading, show
from tui_bench.study.strict_yaml import Entries, Items, Node, Scalar

Number = TypeVar("Number", int, float, Fraction)
Option = TypeVar("Option", bound=str)


class Fields:
    """The keys of one mapping. Unknown keys are noted when it is made."""

    def __init__(
        self, node: Entries, file: Path, reading: Reading, known: Sequence[str], prefixes: Sequence[str] = ()
    ) -> None:
        self.node = node
        self.file = file
        self.reading = reading
        for key, line in node.lines.items():
            if key not in known and not key.startswith(tuple(prefixes)):
                reading.problem(file, line, unknown("key", key, known))

    def __contains__(self, key: str) -> bool:
        return key in self.node.nodes

    def line(self, key: str) -> int:
        """Line of a key, or of the mapping where the key is absent."""
        return self.node.lines.get(key, self.node.line)

    def refuse(self, key: str, message: str, line: int | None = None) -> None:
        """Note a fault of a key's value."""
        self.reading.problem(self.file, line or self.line(key), f"{key}: {message}")

    def require(self, *keys: str) -> None:
        """Note each of `keys` that is absent."""
        for key in keys:
            if key not in self:
                self.reading.problem(self.file, self.node.line, f"key {key!r} is missing")

    def text(self, key: str, *, lines: bool = False) -> str | None:
        """Text as written, not empty; on one line unless `lines`."""
        node = self.node.nodes.get(key)
        return None if node is None else self._text(key, node, lines)

    def _text(self, key: str, node: Node, lines: bool = False, empty: bool = False) -> str | None:
        if not isinstance(node, Scalar):
            self.refuse(key, f"is {_kind(node)}; one text is wanted", node.line)
            return None
        if node.empty or not (empty or node.text.strip()):
            null = f" ({node.text} is YAML for nothing)" if node.empty and node.text else ""
            self.refuse(key, f"is empty{null}; give a value or remove the key", node.line)
            return None
        if not lines and not node.text.replace("\t", " ").isprintable():
            self.refuse(key, f"{show(node.text)} holds a line break or control character", node.line)
            return None
        return node.text

    def integer(self, key: str, allowed: Range) -> int | None:
        """A whole number inside `allowed`."""
        return self._number(key, self.node.nodes.get(key), allowed, allowed.integer)

    def number(self, key: str, allowed: Range) -> float | None:
        """A decimal number inside `allowed`."""
        return self._number(key, self.node.nodes.get(key), allowed, allowed.number)

    def integers(self, key: str, allowed: Range) -> tuple[int, ...] | None:
        """A list of whole numbers, at least one."""
        nodes = self._items(key)
        if nodes is None:
            return None
        found = [self._number(key, node, allowed, allowed.integer) for node in nodes]
        return tuple(value for value in found if value is not None)

    def _number(self, key: str, node: Node | None, allowed: Range, convert: Callable[[str], Number]) -> Number | None:
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.refuse(key, f"is {_kind(node)}; allowed: {allowed}", node.line)
            return None
        if node.style == "quoted":
            cure = f"allowed: {allowed}, without quotes"
            self.refuse(key, f"{show(node.text)} is in quotes, so it is text; {cure}", node.line)
            return None
        try:
            return convert("" if node.empty else node.text)
        except ValueError as error:
            self.refuse(key, str(error), node.line)
            return None

    def rate(self, key: str) -> Fraction | None:
        """An exact share from 0 to 1, as `0.10` or `1/10`; only the fraction may stand in quotes."""
        node = self.node.nodes.get(key)
        if isinstance(node, Scalar) and "/" in node.text:
            node = Scalar(node.text, "plain", node.line)
        return self._number(key, node, RATE, RATE.rate)

    def choice(self, key: str, options: Sequence[Option], cures: Mapping[str, str] | None = None) -> Option | None:
        """One of a closed list. `cures` maps usual slips to the option that was meant."""
        text = self.text(key)
        if text is None:
            return None
        for option in options:
            if option == text:
                return option
        meant = (cures or {}).get(text.casefold())
        cure = f"write {meant}; " if meant else ""
        self.refuse(key, f"{show(text)} is not known; {cure}known: {', '.join(options)}")
        return None

    def _items(self, key: str) -> tuple[Node, ...] | None:
        node = self.node.nodes.get(key)
        if node is None:
            return None
        if not isinstance(node, Items):
            self.refuse(key, f"is {_kind(node)}; a list such as [a, b] is wanted", node.line)
            return None
        return node.nodes

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts, each on one line."""
        nodes = self._items(key)
        if nodes is None:
            return None
        found = [self._text(key, node) for node in nodes]
        return tuple(text for text in found if text is not None)

    def globs(self, key: str, *, some: bool = False) -> tuple[str, ...] | None:
        """A list of globs relative to the tree they are about; with `some` at least one."""
        found = self.texts(key)
        if some and found == ():
            self.refuse(key, "is an empty list; name a glob or remove the key")
        for glob in found or ():
            if glob.startswith("/") or ".." in glob.split("/"):
                self.refuse(key, f"{show(glob)} leaves the tree; write it relative to it, without '..'")
        return found

    def command(self, key: str) -> tuple[str, ...] | str | None:
        """A list is argv, a string is for `sh -c`; neither may be empty."""
        node = self.node.nodes.get(key)
        if not isinstance(node, Items):
            return self.text(key, lines=True)
        if not node.nodes:
            self.refuse(key, "is an empty list; name a program", node.line)
            return None
        found = [self._text(key, item, lines=True, empty=True) for item in node.nodes]
        argv = tuple(text for text in found if text is not None)
        if argv and not argv[0].strip():
            self.refuse(key, "begins with an empty text; name a program", node.line)
            return None
        return argv or None

    def mapping(self, key: str, known: Sequence[str]) -> Fields | None:
        """A nested mapping with keys of its own."""
        node = self.node.nodes.get(key)
        if node is None:
            return None
        if not isinstance(node, Entries):
            example = ", ".join(f"{name}: ..." for name in known[:2])
            self.refuse(key, f"is {_kind(node)}; a mapping such as {{{example}}} is wanted", node.line)
            return None
        return Fields(node, self.file, self.reading, known)

    def variables(self, key: str, refused: Callable[[str], str | None]) -> tuple[tuple[str, str], ...]:
        """A mapping of environment variables; `refused(name)` says why a name may not be set here."""
        node = self.node.nodes.get(key)
        if node is None:
            return ()
        if not isinstance(node, Entries):
            self.refuse(key, f"is {_kind(node)}; a mapping of names to values is wanted", node.line)
            return ()
        found: list[tuple[str, str]] = []
        for name, value in node.nodes.items():
            fault = variable_fault(name) or refused(name)
            if fault:
                self.refuse(key, fault, node.lines[name])
                continue
            text = self._text(f"{key}.{name}", value, lines=True, empty=True)
            if text is not None:
                found.append((name, text))
        return tuple(found)

    def path(self, key: str, base: Path) -> Path | None:
        """A path, `~` expanded, relative to `base`."""
        text = self.text(key)
        return None if text is None else absolute(text, base)

    def paths(self, key: str, base: Path) -> tuple[Path, ...]:
        """A list of paths like `path`."""
        return tuple(absolute(text, base) for text in self.texts(key) or ())


def absolute(text: str, base: Path) -> Path:
    """`text` as an absolute path without `.` and `..`; links are left as they are."""
    expanded = os.path.expanduser(text)  # noqa: PTH111  (pathlib's raises where a user is unknown)
    return Path(os.path.normpath(base / expanded))


def note_same_names(
    reading: Reading, what: str, names: Collection[tuple[str, Path, int | None]], key: Callable[[str], str] = str
) -> None:
    """Note every name that was given before, naming both places."""
    first: dict[str, tuple[str, Path, int | None]] = {}
    for name, file, line in names:
        known = first.setdefault(key(name), (name, file, line))
        if known[1:] != (file, line):
            where = f"line {known[2]}" if known[1] == file else reading.shown(known[1])
            reading.problem(file, line, f"{what} {show(name)} is taken by {show(known[0])} ({where}); rename one")


def _kind(node: Node) -> str:
    if isinstance(node, Scalar):
        return show(node.text)
    return "a list" if isinstance(node, Items) else "a mapping"
