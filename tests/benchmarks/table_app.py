"""The same live grid made of Textual's DataTable, on the same ledger: what a screen costs without a grid of its own.

`python table_app.py LEDGER`. Each changed cell is one `update_cell`, at most ten times a second.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable

POLL_S = 0.1
HEIGHT = 22
"""Lines of the table: about as many rows are seen as in our own grid on the same screen."""


class TableApp(App[None]):
    """A table of tasks x (agents x environments)."""

    CSS = f"DataTable {{ height: {HEIGHT}; scrollbar-size-horizontal: 0; }}"
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, ledger: Path) -> None:
        super().__init__()
        self._file = ledger.open("rb")

    def compose(self) -> ComposeResult:
        yield DataTable()

    def on_mount(self) -> None:
        rows = [json.loads(line) for line in self._file]
        agents = [agent["name"] for row in rows if row["kind"] == "run" for agent in row["agents"]]
        envs = [row["env"] for row in rows if row["kind"] == "env"]
        table = self.query_one(DataTable)
        table.add_column("task", width=16)
        for agent in agents:
            for env in envs:
                table.add_column(env, width=4, key=f"{agent}/{env}")
        for row in rows:
            if row["kind"] == "task":
                table.add_row(row["task"], *["·"] * (len(agents) * len(envs)), key=row["task"])
        self.set_interval(POLL_S, self._follow)

    def _follow(self) -> None:
        """Take in the rows that have been written since, whole lines alone."""
        table = self.query_one(DataTable)
        while (line := self._file.readline()).endswith(b"\n"):
            row = json.loads(line)
            table.update_cell(row["task"], f"{row['agent']}/{row['env']}", sign(row))
        self._file.seek(-len(line), 1)


def sign(row: dict[str, Any]) -> str:
    """What a cell shows after this row."""
    if row["kind"] == "event":
        return "▶"
    return "✓" if row["passed"] else "✗"


if __name__ == "__main__":
    TableApp(Path(sys.argv[1])).run()
