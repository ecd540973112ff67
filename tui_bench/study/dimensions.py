"""The dimension of a study: what its environments are meant to differ in, as globs over the names of facts.

Facts are named by the facts script (`os.id`, `cpu.usable`, `time.zone`, ...), `env.NAME` for a declared variable and
`setting.NAME` for a declared setting of the environment.
"""

from __future__ import annotations

from pathlib import Path

from tui_bench.study.model import Dimension
from tui_bench.study.names import unknown
from tui_bench.study.reading import Reading
from tui_bench.study.schema import Fields
from tui_bench.study.strict_yaml import Entries, Node, Scalar

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "timezone": ("time.*", "env.TZ"),
    "locale": ("locale.*", "env.LANG", "env.LANGUAGE", "env.LC_*"),
    "cpus": ("cpu.present", "cpu.usable", "limit.cpu_max", "setting.cpus"),
    "memory": ("mem.*", "limit.memory_max", "limit.ulimit_v", "setting.memory_mb"),
    "network": ("net.*", "setting.network"),
    "kind": ("box.*", "sec.*", "user.*", "net.*", "fs.*", "limit.*", "os.debian_version", "setting.kind"),
    "container": (
        "box.*", "os.*", "tool.*", "user.*", "sec.*", "net.*", "fs.*", "limit.*",
        "setting.kind", "setting.image", "setting.base_url",
    ),
    "host": (
        "os.*", "kernel.*", "cpu.*", "mem.*", "tool.*", "user.*", "limit.*",
        "setting.kind", "setting.host", "setting.base_url",
    ),
}  # fmt: skip
"""Closed names, each with the facts that go with it. A sandbox hides files of /etc: hence a fact of `os` in `kind`."""


def dimension_of(node: Node, file: Path, reading: Reading) -> Dimension | None:
    """A closed name, or `{name, facts}`; faults are noted."""
    if isinstance(node, Entries):
        fields = Fields(node, file, reading, ("name", "facts"))
        fields.require("name", "facts")
        name, facts = fields.text("name"), fields.texts("facts")
        if facts == ():
            fields.refuse("facts", "is an empty list; name facts, such as 'tool.*'")
        return Dimension(name, facts) if name is not None and facts else None
    if isinstance(node, Scalar) and node.text in DIMENSIONS:
        return Dimension(node.text, DIMENSIONS[node.text])
    own = "or write {name: ..., facts: [globs]}"
    if isinstance(node, Scalar) and not node.empty:
        reading.problem(file, node.line, f"{unknown('dimension', node.text, DIMENSIONS, list_all=True)}; {own}")
    else:
        reading.problem(file, node.line, f"dimension: write one of {', '.join(DIMENSIONS)}; {own}")
    return None
