"""No text reaches a widget in a way that could read it as markup: the source of the screen is walked to make sure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tui_bench.tui

ROOT = Path(tui_bench.tui.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
WIDGETS = {"Static", "Label", "Button", "Collapsible", "Option", "Markdown"}
METHODS = {"notify", "update"}
ATTRIBUTES = {"border_title", "border_subtitle", "title", "sub_title", "tooltip"}
MAKERS = {"Content", "line", "assemble", "join", "log_title", "log_hint", "answers"}
"""Calls that give `Content`, which is never read as markup."""


def is_content(node: ast.AST) -> bool:
    """Whether an expression is Content, plainly None, or a fixed text without a bracket."""
    if isinstance(node, ast.Constant):
        return node.value is None or (isinstance(node.value, str) and "[" not in node.value)
    if isinstance(node, ast.IfExp):
        return is_content(node.body) and is_content(node.orelse)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in MAKERS
    # Parameters and fields that are declared as Content; mypy holds callers to it.
    return ast.unparse(node) in ("self._title", "title", "subtitle")


def without_markup(call: ast.Call) -> bool:
    return any(
        word.arg == "markup" and isinstance(word.value, ast.Constant) and word.value.value is False
        for word in call.keywords
    )


def faults(source: str) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            is_widget = name in WIDGETS or (name == "__init__" and "markup" in ast.unparse(node))
            risky = is_widget or name == "notify" or (name == "update" and _is_widget_update(node))
            if risky and not without_markup(node) and not all(map(is_content, node.args)):
                found.append(f"line {node.lineno}: {ast.unparse(node)[:80]}")
            if name in ("from_markup", "from_text", "render_str", "Text"):
                found.append(f"line {node.lineno}: {name} reads markup")
        elif isinstance(node, ast.Assign):
            titles = any(isinstance(target, ast.Attribute) and target.attr in ATTRIBUTES for target in node.targets)
            if titles and not is_content(node.value):
                found.append(f"line {node.lineno}: {ast.unparse(node)[:80]}")
    return found


def _is_widget_update(call: ast.Call) -> bool:
    """Sets and dicts have an `update` too; theirs is called on plain names."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner is not None and (not isinstance(owner, ast.Name) or owner.id == "self")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_foreign_text_is_read_as_markup(path: Path) -> None:
    assert faults(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "Static(f'{name}')",
        "Static(name)",
        "Label(row.task)",
        "self.notify(message)",
        "self.update(text)",
        "self.query_one('#x').update(f'{a}')",
        "box.border_title = name",
        "box.border_subtitle = f'{name}'",
        "Content.from_markup(name)",
        "Static('[red]x')",
    ],
)
def test_the_walk_finds_what_it_is_for(source: str) -> None:
    assert faults(source)


@pytest.mark.parametrize(
    "source",
    [
        "Static(name, markup=False)",
        "Static(Content(name))",
        "self.notify(safe.text(name), markup=False)",
        "box.border_title = safe.line(name)",
        "self.update(Content.assemble(a, b))",
    ],
)
def test_the_walk_lets_safe_ways_pass(source: str) -> None:
    assert faults(source) == []


def test_programs_are_started_in_one_place_only() -> None:
    """The screen lends its terminal through `suspend`; nothing else of it may start a process."""
    starting = {"subprocess", "Popen", "system", "popen", "fork", "posix_spawn", "spawnv", "execv", "execvp",
                "create_subprocess_exec", "create_subprocess_shell"}  # fmt: skip
    found = {
        path.relative_to(ROOT).as_posix()
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute | ast.Name | ast.alias)
        and {getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "name", "")} & starting
    }
    assert found == {"suspend.py"}
