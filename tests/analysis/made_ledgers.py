"""Ledgers as lists of rows, written the way a study reads: one letter an attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tui_bench.analysis.fold import fold_all
from tui_bench.analysis.state import RunState
from tui_bench.ledger.rows import (
    AgentFact,
    AnyRow,
    AttemptRow,
    Claim,
    EnvRow,
    EventRow,
    PhasesMs,
    Resources,
    Rule,
    RunRow,
    TaskRow,
)

RUN = "20261129T210400Z-3f2a"
LETTERS = {"P": True, "F": False}
"""P pass, F fail, V void, . no row."""


def run_row(*, subject: str = "reference", agents: Sequence[str] = (), attempts: int = 1, **fields: Any) -> RunRow:
    rule = fields.pop("rule", {})
    defaults: dict[str, Any] = {
        "run_id": RUN,
        "study_id": "slice12",
        "study_sha": "s" * 64,
        "rule_sha": "r" * 64,
        "harness_sha256": "h" * 64,
        "config_sha": "c" * 64,
        "controls_sha": None,
        "claim": Claim(),
        "plan_sha": "p" * 64,
        "planned": 0,
        "subject": subject,
        "mode": "full" if subject == "agent" else subject,
        "attempts": attempts,
        "jobs": 2,
        "order_policy": "interleaved",
        "order_seed": 20261129,
        "dimension": None,
        "dimension_facts": [],
        "host": "box",
        "boot_id": None,
        "pid": 1,
        "root": False,
        "python": "3.11.7",
        "platform": "Linux",
        "version": "0.1.0",
        "agents": [AgentFact(name=name, agent_kind="command", digest="d" * 64) for name in agents],
        "rule": Rule(**({"flip_rate": "1/10", "min_pairs": "9/10", "attempts": attempts, "verify_replays": 0} | rule)),
    }
    return RunRow(**(defaults | fields))


def task_row(task: str) -> TaskRow:
    return TaskRow(
        run_id=RUN,
        task=task,
        task_sha="t" * 64,
        oracle_sha=None,
        prompt_sha=None,
        verify_cmd="sh run_tests.sh",
        verify_timeout_s=60,
        reference=True,
    )


def env_row(env: str, **fields: Any) -> EnvRow:
    defaults: dict[str, Any] = {
        "run_id": RUN,
        "env": env,
        "env_kind": "local",
        "env_sha": "e" * 64,
        "facts": {"os.id": "debian"},
        "volatile": {},
        "capabilities": {},
        "variables": {},
    }
    return EnvRow(**(defaults | fields))


def event_row(event: str, **fields: Any) -> EventRow:
    return EventRow(run_id=RUN, event=event, **fields)


def attempt_row(task: str, env: str, number: int, passed: bool | None, **fields: Any) -> AttemptRow:
    void = fields.pop("void", "infra" if passed is None else None)
    exit_code = {True: 0, False: 1, None: 127}[passed]
    defaults: dict[str, Any] = {
        "run_id": RUN,
        "task": task,
        "env": env,
        "attempt": number,
        "attempt_id": f"{task}/{env}/{number}",
        "agent": None,
        "mode": "reference",
        "role": "planned",
        "replaces": None,
        "env_sha": "e" * 64,
        "passed": passed,
        "exit_code": exit_code,
        "signal": None,
        "void": void,
        "void_causes": [void] if void else [],
        "wall_ms": 1_000,
        "phases_ms": PhasesMs(),
        "verify_cmd": "sh run_tests.sh",
        "verify_runs": [exit_code],
        "verify_stdout_tail": "",
        "verify_stderr_tail": "",
        "agent_exit": None,
        "agent_signal": None,
        "capped": False,
        "tokens_in": None,
        "tokens_out": None,
        "tokens_cached": None,
        "usage_source": None,
        "patch_sha256": None,
        "dropped": [],
        "task_sha": "t" * 64,
        "oracle_sha": None,
        "prompt_sha": None,
        "resources": Resources(),
        "host_load": None,
        "enforced": {},
        "order_index": None,
        "files": {},
    }
    return AttemptRow(**(defaults | fields))


def cells(table: Mapping[str, Sequence[str]], envs: Sequence[str], agent: str | None = None) -> list[AnyRow]:
    """Rows of a table {task: letters per environment}, interleaved by attempt number; V is void: infra."""
    rows: list[AnyRow] = []
    rounds = max((len(letters) for row in table.values() for letters in row), default=0)
    for number in range(rounds):
        for task, row in table.items():
            for env, letters in zip(envs, row, strict=True):
                if number < len(letters) and letters[number] != ".":
                    attempt_id = f"{task}/{env}/{agent}/{number}"
                    mode = "full" if agent else "reference"
                    rows.append(
                        attempt_row(
                            task,
                            env,
                            number,
                            LETTERS.get(letters[number]),
                            agent=agent,
                            attempt_id=attempt_id,
                            mode=mode,
                        )
                    )
    return rows


def rows_of(
    table: Mapping[str, Sequence[str]],
    *,
    envs: Sequence[str] = ("local", "remote"),
    agent: str | None = None,
    over: bool = True,
    env_facts: Mapping[str, Mapping[str, str]] | None = None,
    **fields: Any,
) -> list[AnyRow]:
    """A whole ledger: run, tasks, environments, attempts and, where `over`, `ended`."""
    attempts = fields.pop("attempts", None) or max(len(letters) for row in table.values() for letters in row)
    subject = fields.pop("subject", "agent" if agent else "reference")
    facts = env_facts or {}
    return [
        run_row(subject=subject, agents=[agent] if agent else [], attempts=attempts, **fields),
        *(task_row(task) for task in table),
        *(env_row(env, facts={"os.id": "debian"} | dict(facts.get(env, {}))) for env in envs),
        *cells(table, envs, agent),
        *([event_row("ended")] if over else []),
    ]


def state_of(table: Mapping[str, Sequence[str]], **fields: Any) -> RunState:
    return fold_all(rows_of(table, **fields))


def pairs(
    *, both: int = 0, down: int = 0, up: int = 0, fail: int = 0, void: int = 0, todo: int = 0
) -> dict[str, list[str]]:
    """Tasks t01, t02, ... with one attempt a cell, by what becomes of the pair."""
    kinds = [["P", "P"]] * both + [["P", "F"]] * down + [["F", "P"]] * up + [["F", "F"]] * fail
    kinds += [["P", "V"]] * void + [["P", "."]] * todo
    return {f"t{index:02}": list(kind) for index, kind in enumerate(kinds, 1)}
