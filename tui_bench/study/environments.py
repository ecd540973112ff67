"""Environments: the rows of envs.tsv, or the same keys as a list in bench.yaml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from tui_bench.study.model import Environment, Kind, Network, Variables
from tui_bench.study.names import id_fault, variable_fault
from tui_bench.study.ranges import CPUS, MEMORY_MB, SECONDS, SLOTS
from tui_bench.study.reading import Reading, show
from tui_bench.study.schema import Fields, absolute, note_same_names
from tui_bench.study.strict_yaml import Entries, Items, Node, Scalar
from tui_bench.study.tables import read_table
from tui_bench.study.urls import url_fault
from tui_bench.study.variables import environment_refusal

COLUMNS = (
    "name", "base_url", "workspace", "reset", "timeout_s",
    "kind", "image", "host", "slots", "cpus", "memory_mb", "network",
)  # fmt: skip
VARIABLE_PREFIX = "env."
KINDS: tuple[Kind, ...] = ("local", "sandbox", "container", "ssh", "exec")
NETWORKS: tuple[Network, ...] = ("open", "endpoint", "denied")
NETWORK_CURES = {
    "off": "denied", "none": "denied", "no": "denied", "false": "denied", "deny": "denied", "disabled": "denied",
    "on": "open", "yes": "open", "true": "open", "allow": "open", "enabled": "open", "allowed": "open",
    "endpoint-only": "endpoint", "endpoint_only": "endpoint",
}  # fmt: skip
_RESETS: tuple[Literal["wipe"], ...] = ("wipe",)
_MAY_BE_BLANK = tuple(column for column in COLUMNS if column not in ("name", "timeout_s"))


def read_environments(file: Path, reading: Reading) -> tuple[Environment, ...]:
    """The environments of a table; faults are noted."""
    rows = read_table(file, reading, COLUMNS, (VARIABLE_PREFIX,))
    return _environments([_without_blanks(row) for row in rows], file, reading)


def inline_environments(node: Node, file: Path, reading: Reading) -> tuple[Environment, ...]:
    """The environments of a list in bench.yaml; variables are keys `env.NAME` or one mapping `env`."""
    if not isinstance(node, Items) or not node.nodes:
        message = "environments: neither a file nor a list of environments; write envs.tsv or [{name: ...}]"
        reading.problem(file, node.line, message)
        return ()
    rows = []
    for item in node.nodes:
        if isinstance(item, Entries):
            rows.append(item)
        else:
            reading.problem(file, item.line, "environments: each item is a mapping such as {name: local}")
    return _environments(rows, file, reading)


def _without_blanks(row: Entries) -> Entries:
    nodes = {
        name: cell
        for name, cell in row.nodes.items()
        if not (
            isinstance(cell, Scalar) and not cell.text and (name in _MAY_BE_BLANK or name.startswith(VARIABLE_PREFIX))
        )
    }
    return Entries(nodes, row.lines, row.line)


def _environments(rows: list[Entries], file: Path, reading: Reading) -> tuple[Environment, ...]:
    found = []
    for row in rows:
        fields = Fields(row, file, reading, (*COLUMNS, "env"), (VARIABLE_PREFIX,))
        environment = _environment(fields)
        if environment is not None:
            found.append((environment, fields.line("name")))
    note_same_names(reading, "environment", [(entry.name, file, line) for entry, line in found])
    return tuple(environment for environment, _ in found)


def _environment(fields: Fields) -> Environment | None:
    fields.require("name")
    name = fields.text("name")
    fault = id_fault(name) if name is not None else None
    if fault:
        fields.refuse("name", f"{show(name or '')} {fault}")
    kind = fields.choice("kind", KINDS) or "local"
    _check_place(fields, kind)
    network = fields.choice("network", NETWORKS, NETWORK_CURES)
    environment = Environment(
        name=name or "",
        kind=kind,
        base_url=base_url(fields),
        workspace=_workspace(fields),
        reset=fields.choice("reset", _RESETS) or "wipe",
        timeout_s=fields.number("timeout_s", SECONDS),
        image=fields.text("image"),
        host=fields.text("host"),
        slots=fields.integer("slots", SLOTS),
        cpus=fields.number("cpus", CPUS),
        memory_mb=fields.integer("memory_mb", MEMORY_MB),
        network=network,
        variables=_variables(fields),
    )
    return environment if name is not None else None


def _check_place(fields: Fields, kind: Kind) -> None:
    wanted = {"container": "image", "ssh": "host"}.get(kind)
    if wanted and wanted not in fields:
        fields.refuse("kind", f"{kind} needs the column {wanted!r}")


def base_url(fields: Fields) -> str | None:
    """The key `base_url`, checked."""
    text = fields.text("base_url")
    fault = url_fault(text) if text is not None else None
    if fault:
        fields.refuse("base_url", fault)
    return text


def _workspace(fields: Fields) -> Path | None:
    text = fields.text("workspace")
    if text is None or text == "auto":
        return None
    expanded = Path(os.path.expanduser(text))  # noqa: PTH111  (pathlib's raises where a user is unknown)
    if not expanded.is_absolute() or ".." in expanded.parts:
        cure = "write an absolute path without '..', or auto for the user's cache folder"
        fields.refuse("workspace", f"{show(text)} is not absolute; {cure}")
        return None
    return absolute(text, expanded)


def _variables(fields: Fields) -> Variables:
    found = dict(fields.variables("env", environment_refusal))
    for key in fields.node.nodes:
        name = key.removeprefix(VARIABLE_PREFIX)
        if name == key:
            continue
        fault = variable_fault(name) or environment_refusal(name)
        if fault:
            fields.refuse(key, fault)
        elif name in found:
            fields.refuse(key, "is set by 'env' as well; remove one")
        else:
            text = fields.text(key, lines=True)
            if text is not None:
                found[name] = text
    return tuple(found.items())
