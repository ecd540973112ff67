"""controls.yaml of the replay method: every key is enforced or refused, none is passed over."""

from __future__ import annotations

from pathlib import Path

from tui_bench.study.environments import NETWORK_CURES, NETWORKS
from tui_bench.study.model import Controls
from tui_bench.study.ranges import ATTEMPTS, CPUS, DRIFT, MEMORY_MB, SECONDS
from tui_bench.study.reading import Reading
from tui_bench.study.schema import Fields
from tui_bench.study.strict_yaml import Entries, Node, read

KEYS = (
    "slice_id", "unit_of_analysis", "max_attempts", "wall_clock_sec", "cpus", "memory_mb", "network",
    "writable_paths", "oracle_cmd", "oracle_sha256_file", "seed_policy", "language_toolchain", "forbidden_edits",
    "replay_required", "max_replay_drift",
)  # fmt: skip
_UNITS = ("one_attempt_per_task",)
_SEED_POLICIES = ("fixed",)


def read_controls(file: Path, reading: Reading) -> Controls | None:
    """The controls of a file; faults are noted."""
    node = read(file, reading)
    return None if node is None else controls_of(node, file, reading)


def controls_of(node: Node, file: Path, reading: Reading) -> Controls | None:
    """The controls of a mapping."""
    if not isinstance(node, Entries):
        reading.problem(file, node.line, "controls are a mapping such as 'max_attempts: 1'")
        return None
    fields = Fields(node, file, reading, KEYS)
    max_attempts = fields.integer("max_attempts", ATTEMPTS)
    if max_attempts is not None and max_attempts != 1:
        message = "allowed: 1, because the first patch is what is scored; for repeats use replay_required"
        fields.refuse("max_attempts", f"{max_attempts} is out of range; {message}")
    return Controls(
        slice_id=fields.text("slice_id"),
        unit_of_analysis=fields.choice("unit_of_analysis", _UNITS),
        max_attempts=max_attempts,
        wall_clock_sec=fields.number("wall_clock_sec", SECONDS),
        cpus=fields.number("cpus", CPUS),
        memory_mb=fields.integer("memory_mb", MEMORY_MB),
        network=fields.choice("network", NETWORKS, NETWORK_CURES),
        writable_paths=fields.globs("writable_paths", some=True),
        oracle_cmd=fields.text("oracle_cmd", lines=True),
        oracle_sha256_file=fields.text("oracle_sha256_file"),
        seed_policy=fields.choice("seed_policy", _SEED_POLICIES),
        language_toolchain=fields.text("language_toolchain"),
        forbidden_edits=fields.globs("forbidden_edits") or (),
        replay_required=fields.integer("replay_required", ATTEMPTS),
        max_replay_drift=fields.integer("max_replay_drift", DRIFT),
    )
