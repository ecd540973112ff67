"""Ledgers for the screen's benchmarks: finished ones of any length, begun ones that a load goes on with, and logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ledger import AGENTS, ENVIRONMENTS, RUN, TASKS, attempt_rows
from msgspec.structs import replace

from tui_bench.ledger.canonical import seal
from tui_bench.ledger.rows import (
    GENESIS,
    AgentFact,
    AnyRow,
    AttemptRow,
    Claim,
    EnvRow,
    EventRow,
    FileRef,
    Rule,
    RunRow,
    TaskRow,
)  # fmt: skip
from tui_bench.ledger.runs import Layout

AT = "2026-11-29T12:00:00.000Z"
DIGEST = "0" * 64
CELLS = TASKS * ENVIRONMENTS * AGENTS
LOG_LINE = b"12:00:00 INFO  worker 3: case 0417 of the parser suite: 12 assertions hold, none is open\n"
LOG_END = "the last line of this log"


def task_name(number: int) -> str:
    """As the ledger benchmark names tasks."""
    return f"t{number:03d}_task_name"


def first_rows(tasks: Iterable[str], envs: Iterable[str], agents: list[str], attempts: int) -> Iterator[AnyRow]:
    """What a run writes before its first attempt."""
    tasks, envs = list(tasks), list(envs)
    yield RunRow(
        run_id=RUN, study_id="bench", study_sha=DIGEST, rule_sha=DIGEST, harness_sha256=DIGEST, config_sha=DIGEST,
        rule=Rule(flip_rate="1/10", min_pairs="9/10", attempts=attempts, verify_replays=2), controls_sha=None,
        agents=[AgentFact(name=name, agent_kind="command", digest=DIGEST) for name in agents], claim=Claim(),
        plan_sha=DIGEST, planned=len(tasks) * len(envs) * len(agents) * attempts, subject="agent", mode="full",
        attempts=attempts, jobs=8, order_policy="interleaved", order_seed=1, dimension=None, dimension_facts=[],
        host="box", boot_id=None, pid=1, root=False, python="3.11", platform="Linux", version="1",
    )  # fmt: skip
    for task in tasks:
        yield TaskRow(
            run_id=RUN, task=task, task_sha=DIGEST, oracle_sha=DIGEST, prompt_sha=DIGEST, verify_cmd=["sh", "test.sh"],
            verify_timeout_s=60.0, reference=True,
        )  # fmt: skip
    for env in envs:
        yield EnvRow(
            run_id=RUN, env=env, env_kind="local", env_sha=DIGEST, facts={}, volatile={}, capabilities={}, variables={}
        )


def write_rows(path: Path, rows: Iterable[AnyRow]) -> None:
    """A ledger of these rows."""
    prev = GENESIS
    with path.open("wb") as file:
        for seq, row in enumerate(rows, 1):
            sealed = seal(row, seq, prev, AT)
            file.write(sealed.line + b"\n")
            prev = sealed.sha


def write_finished(path: Path, attempts: int) -> None:
    """A whole run of `attempts` attempts over 500 tasks x 4 environments x 5 agents."""

    def rows() -> Iterator[AnyRow]:
        yield from first_rows(
            (task_name(number) for number in range(TASKS)),
            (f"env{number}" for number in range(ENVIRONMENTS)),
            [f"agent{number}" for number in range(AGENTS)],
            -(-attempts // CELLS),
        )
        yield from attempt_rows(attempts)
        yield EventRow(run_id=RUN, event="ended", outcome="complete")

    write_rows(path, rows())


def write_begun(path: Path, tasks: int) -> None:
    """A run that has just begun, of `tasks` tasks x 20 columns."""
    names = (task_name(number) for number in range(tasks))
    envs = (f"env{number}" for number in range(ENVIRONMENTS))
    write_rows(path, first_rows(names, envs, [f"agent{number}" for number in range(AGENTS)], 1))


def write_logged(path: Path, log_bytes: int) -> None:
    """A finished run of two tasks: the first has a log of a few lines, the second one of about `log_bytes`."""
    layout = Layout(path)
    row = next(attempt_rows(1))
    rows: list[AttemptRow] = []
    for number, size in enumerate((1000, log_bytes)):
        log = layout.attempt_folder(task_name(number), "env0", "agent0", 0) / "verify.log"
        log.parent.mkdir(parents=True)
        _write_log(log, size, f"{LOG_END} {number}\n")
        named = FileRef(path=layout.relative(log), sha256=DIGEST, bytes=log.stat().st_size)
        rows.append(replace(row, task=task_name(number), attempt_id=f"{number:016x}", files={"verify_log": named}))
    begun = first_rows((task_name(number) for number in range(2)), ["env0"], ["agent0"], 1)
    write_rows(path, [*begun, *rows, EventRow(run_id=RUN, event="ended", outcome="complete")])


def _write_log(path: Path, size: int, end: str) -> None:
    block = LOG_LINE * (2**20 // len(LOG_LINE))
    with path.open("wb") as file:
        while file.tell() + len(block) < size:
            file.write(block)
        file.write(LOG_LINE * ((size - file.tell()) // len(LOG_LINE)))
        file.write(end.encode())
