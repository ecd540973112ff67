"""What `env check` shows of one environment."""

from __future__ import annotations

from typing import Any

from tui_bench.environments.environment import ExecEnvironment
from tui_bench.environments.facts import missing_tools


def report(environment: ExecEnvironment) -> dict[str, Any]:
    """A prepared environment as plain values: env_sha, facts, volatile, capabilities, missing_tools."""
    return {
        "env_sha": environment.env_sha,
        "facts": dict(environment.facts.hashed),
        "volatile": dict(environment.facts.volatile),
        "capabilities": dict(environment.capabilities),
        "missing_tools": missing_tools(environment.facts),
    }
