"""What an environment is: facts gathered inside it, what the study sets, and the digest over both.

`env_sha` covers every hashed fact and no label: a renamed environment keeps it. Volatile facts (load, free space, the
time, names of the host) are shown and never hashed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tui_bench.environments.base import Facts
from tui_bench.study.model import Environment

VERSION = 1
"""Of the set of facts; part of env_sha, because another set is not comparable."""
REQUIRED_TOOLS = ("sh", "bash", "git", "python3", "tar")
"""Tasks commonly need them; one that is missing is named before the first attempt."""
ABSENT = "absent"


def script() -> str:
    """The POSIX sh program that prints facts; its first argument is a folder of the workspace's file system."""
    return Path(__file__).with_name("facts.sh").read_text(encoding="utf-8")


def parse(text: str) -> Facts:
    """Facts from the script's output. Lines that are no `name=value` are left out; there are none from the script."""
    hashed: dict[str, str] = {}
    volatile: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            target = volatile if name.startswith("~") else hashed
            target[name.removeprefix("~")] = value
    return Facts(dict(sorted(hashed.items())), dict(sorted(volatile.items())))


def with_settings(found: Facts, spec: Environment) -> Facts:
    """The same facts with what the study asks of this environment: `setting.*`, and its variables as `env.NAME`."""
    settings = {
        "kind": spec.kind,
        "timeout_s": spec.timeout_s,
        "cpus": spec.cpus,
        "memory_mb": spec.memory_mb,
        "network": spec.network,
        "image": spec.image,
    }
    hashed = dict(found.hashed)
    hashed.update({f"setting.{name}": plain(value) for name, value in settings.items()})
    hashed.update({f"env.{name}": value for name, value in spec.variables})
    return Facts(dict(sorted(hashed.items())), found.volatile)


def plain(value: str | float | None) -> str:
    """A setting as text: 60 and 60.0 are the same setting."""
    return "unset" if value is None else value if isinstance(value, str) else f"{value:.15g}"


def env_sha(facts: Facts) -> str:
    """sha256 hex over the hashed facts in order, length-prefixed so that no value can pose as another fact."""
    digest = hashlib.sha256(f"facts {VERSION}\n".encode())
    for name, value in sorted(facts.hashed.items()):
        line = f"{name}={value}".encode("utf-8", "surrogateescape")
        digest.update(b"%d:%s\n" % (len(line), line))
    return digest.hexdigest()


def difference(a: Facts, b: Facts) -> list[tuple[str, str, str]]:
    """Hashed facts in which two environments differ: (fact, value in a, value in b), sorted by name."""
    names = sorted({*a.hashed, *b.hashed})
    pairs = ((name, a.hashed.get(name, ABSENT), b.hashed.get(name, ABSENT)) for name in names)
    return [pair for pair in pairs if pair[1] != pair[2]]


def missing_tools(facts: Facts) -> list[str]:
    """Commonly needed programs that the environment lacks."""
    return [tool for tool in REQUIRED_TOOLS if facts.hashed.get(f"tool.{tool}", ABSENT) == ABSENT]
