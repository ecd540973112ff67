"""Which limits hold for one attempt."""

from __future__ import annotations

from tui_bench.environments.base import Limits
from tui_bench.study.model import Agent, Controls, Environment, Task

AGENT_DEFAULT_S = 1_800.0
"""An agent's wall clock where neither agent, controls nor environment name one."""


def agent_limits(agent: Agent, controls: Controls | None, environment: Environment) -> Limits:
    """Wall clock: the smallest of agent's, controls' and environment's."""
    named = [agent.timeout_s, controls.wall_clock_sec if controls else None, environment.timeout_s]
    given = [seconds for seconds in named if seconds is not None]
    return _limits(min(given, default=AGENT_DEFAULT_S), controls, environment)


def verify_limits(task: Task, controls: Controls | None, environment: Environment) -> Limits:
    """Wall clock: the smaller of the task's verify_timeout and the environment's timeout_s."""
    given = [task.verify_timeout, environment.timeout_s]
    return _limits(min(seconds for seconds in given if seconds is not None), controls, environment)


def _limits(wall_s: float, controls: Controls | None, environment: Environment) -> Limits:
    cpus, memory = environment.cpus, environment.memory_mb
    if controls is not None:
        cpus = controls.cpus if cpus is None else cpus
        memory = controls.memory_mb if memory is None else memory
    return Limits(wall_s=wall_s, cpus=cpus, memory_mb=memory)
