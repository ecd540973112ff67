"""What a study asks for by name, and whether an environment can enforce it. Enforce or refuse; never pretend."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from tui_bench.environments.base import MEANS_NONE
from tui_bench.study.model import Environment


@dataclass(frozen=True, slots=True)
class Wanted:
    """Controls that the study names, beside those in the environment's own row. None: nobody asked.

    `even_unenforced`: the user has said that the run may go on where a control cannot be enforced.
    """

    network_denied: bool = False
    network_endpoint: bool = False
    """Nothing but the model's endpoint may be reached."""
    memory_mb: int | None = None
    cpus: float | None = None
    even_unenforced: bool = False


def refusals(spec: Environment, wanted: Wanted, capabilities: Mapping[str, str]) -> list[str]:
    """One sentence for each control that cannot be enforced, with the cure."""
    where = f"not enforceable in environment {spec.name!r} ({spec.kind})"
    found: list[str] = []
    if (spec.network == "denied" or wanted.network_denied) and capabilities["net"] == MEANS_NONE:
        found.append(f"network: denied is {where}: use kind sandbox")
    if spec.network == "endpoint" or wanted.network_endpoint:
        found.append(f"network: endpoint is {where}: this version opens or denies the whole network; use one of them")
    for cpus in sorted({count for count in (spec.cpus, wanted.cpus) if count is not None}):
        found += [f"cpus: {cpus:g} is {where}: {why}" for why in cpu_refusal(cpus, capabilities["cpu"])]
    memory = {size for size in (spec.memory_mb, wanted.memory_mb) if size is not None}
    if memory and capabilities["mem"] == MEANS_NONE:
        found.append(f"memory_mb: {min(memory)} is {where}: use Linux, or leave it out")
    return found


def cpu_refusal(cpus: float, means: str) -> list[str]:
    """Why this number of CPUs cannot be kept; empty when it can."""
    if means == MEANS_NONE:
        return ["use Linux, or leave it out"]
    if cpus != math.floor(cpus) or cpus < 1:
        return [f"{means} keeps whole CPUs only; use {max(1, math.ceil(cpus))}"]
    usable = len(os.sched_getaffinity(0))
    return [f"this machine has {usable}; use at most that many"] if cpus > usable else []


def notes(spec: Environment, wanted: Wanted, capabilities: Mapping[str, str]) -> list[str]:
    """One sentence for each control that stands on a weaker means than a cgroup."""
    found: list[str] = []
    if (spec.memory_mb or wanted.memory_mb) is not None:
        found.append(
            f"environment {spec.name!r}: memory_mb is kept by {capabilities['mem']} (a limit per process, and a look "
            "at all processes together ten times a second), not by a cgroup"
        )
    if (spec.cpus or wanted.cpus) is not None:
        found.append(f"environment {spec.name!r}: cpus is kept by {capabilities['cpu']}, which a process can undo")
    return found
