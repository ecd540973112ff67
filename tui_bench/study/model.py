"""The values a loaded study consists of.

Everything here is frozen, validated by the loaders, and free of I/O. Paths are absolute.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

Kind = Literal["local", "sandbox", "container", "ssh", "exec"]
Subject = Literal["clean", "reference", "patch", "agent"]
Network = Literal["open", "endpoint", "denied"]
AgentKind = Literal["command", "scripted", "nop", "oracle"]

Variables = tuple[tuple[str, str], ...]
"""Environment variables in declared order."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task folder. `verify` is argv when a tuple and a `sh -c` text when a string."""

    id: str
    folder: Path
    repo: Path
    prompt: Path | None
    oracle: Path | None
    """Hidden folder; None where the test lies inside `repo` as `run_tests.sh`."""
    reference: Path | None
    verify: tuple[str, ...] | str
    verify_timeout: float
    """Seconds."""
    fail_codes: frozenset[int] | None = None
    """Exit codes that mean fail; None: every non-zero code does."""
    expect_tests: int | None = None
    oracle_place: Literal["beside", "overlay"] = "beside"
    language: str | None = None
    cluster: str | None = None
    base_commit: str | None = None
    floor_pass: int | None = None
    floor_n: int | None = None
    protected: tuple[str, ...] = ()
    """Globs relative to `repo`; a difference at the end is `void: forbidden_edit`."""
    writable: tuple[str, ...] = ("**",)
    readable_paths: tuple[Path, ...] = ()
    network: Network | None = None
    """What the task asks for in its verify phase; None: denied wherever that can be enforced."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One row of envs.tsv. None means not given."""

    name: str
    kind: Kind = "local"
    base_url: str | None = None
    workspace: Path | None = None
    """Parent folder of the workspaces; None: the user's cache folder."""
    reset: Literal["wipe"] = "wipe"
    timeout_s: float | None = None
    image: str | None = None
    host: str | None = None
    slots: int | None = None
    cpus: float | None = None
    memory_mb: int | None = None
    network: Network | None = None
    variables: Variables = ()
    """The `env.NAME` columns: set last for agent and verify, part of env_sha."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. `command` is argv when a tuple and a `sh -c` text when a string; None for controls."""

    name: str
    kind: AgentKind = "command"
    command: tuple[str, ...] | str | None = None
    folder: Path = Path("/")
    """Folder of the file that names the agent: relative program paths start here."""
    model: str | None = None
    base_url: str | None = None
    max_tokens: int | None = None
    retries: int = 0
    seed: int | None = None
    timeout_s: float | None = None
    variables: Variables = ()
    pass_env: tuple[str, ...] = ()
    login_files: tuple[Path, ...] = ()
    network: Network | None = None
    readable_paths: tuple[Path, ...] = ()
    usage: str | None = None


@dataclass(frozen=True, slots=True)
class Controls:
    """controls.yaml of the replay method. None means not given."""

    slice_id: str | None = None
    unit_of_analysis: str | None = None
    max_attempts: int | None = None
    wall_clock_sec: float | None = None
    cpus: float | None = None
    memory_mb: int | None = None
    network: Network | None = None
    writable_paths: tuple[str, ...] | None = None
    oracle_cmd: str | None = None
    oracle_sha256_file: str | None = None
    seed_policy: str | None = None
    language_toolchain: str | None = None
    forbidden_edits: tuple[str, ...] = ()
    replay_required: int | None = None
    max_replay_drift: int | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """The registered rule. Rates are exact."""

    flip_rate: Fraction = Fraction(1, 10)
    min_pairs: Fraction = Fraction(9, 10)
    """Share of planned pairs that must be scored, rounded up."""


@dataclass(frozen=True, slots=True)
class Order:
    """How attempts are put in a row. `interleaved` shuffles within rounds by `seed`."""

    policy: Literal["interleaved", "sequential"] = "interleaved"
    seed: int = 20261129


@dataclass(frozen=True, slots=True)
class Dimension:
    """The one thing the environments differ in, and the facts it covers (globs over fact names)."""

    name: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """A loaded study. `digest` covers every value that can change a verdict, in canonical form."""

    id: str
    root: Path
    """Folder of the study; relative paths in it start here."""
    file: Path
    tasks: tuple[Task, ...]
    environments: tuple[Environment, ...]
    agents: tuple[Agent, ...]
    """Empty for subjects without an agent."""
    subject: Subject
    attempts: int
    verify_replays: int
    jobs: int
    dimension: Dimension | None = None
    controls: Controls | None = None
    order: Order = Order()
    gate: Gate = Gate()
    claim: Path | None = None
    digest: str = ""
    notes: tuple[str, ...] = field(default=())
    """Lines to show once before the run, such as a bare folder's missing dimension."""
    declared_agents: tuple[Agent, ...] = ()
    """The agents the study names, also where its subject does without them."""
    given: frozenset[str] = frozenset()
    """Which of `subject`, `attempts`, `verify_replays`, `jobs` were written down; the others are defaults."""
    sources: tuple[tuple[str, str], ...] = ()
    """Every study file as it was read: path relative to `root`, sha256 of its bytes."""
