"""Ledgers for the screen's tests, written by the real writer, and the files beside them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tui_bench.ledger.rows import (
    AgentFact,
    AnyRow,
    AttemptRow,
    Claim,
    EnvRow,
    EventRow,
    FileRef,
    PhasesMs,
    Resources,
    Rule,
    RunRow,
    TaskRow,
)
from tui_bench.ledger.runs import Layout
from tui_bench.ledger.writer import LedgerWriter

RUN = "20261129T210400Z-3f2a"
START = datetime(2026, 11, 29, 21, 4, tzinfo=UTC).timestamp()


class Clock:
    """Seconds since the epoch that move only when told to."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Book:
    """A ledger being written: `rows` methods append one row each, a second apart."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self.path = path
        self.layout = Layout(path)
        self.clock = clock or Clock()
        self._writer = LedgerWriter.open(path, clock=self.clock)

    def close(self) -> None:
        self._writer.close()

    def add(self, *rows: AnyRow) -> None:
        for row in rows:
            self._writer.append(row)
            self.clock.now += 1

    def begin(
        self,
        tasks: Iterable[str],
        envs: Iterable[str] = ("here", "there"),
        agents: Iterable[str] = ("strong", "weak"),
        attempts: int = 2,
        jobs: int = 2,
    ) -> None:
        tasks, envs, agents = list(tasks), list(envs), list(agents)
        planned = len(tasks) * len(envs) * max(1, len(agents)) * attempts
        self.add(run_row(agents, attempts, planned, jobs))
        self.add(*(task_row(task) for task in tasks))
        self.add(*(env_row(env) for env in envs))

    def started(self, task: str, env: str, agent: str | None, number: int, log: bytes | None = None) -> str:
        ident = f"{abs(hash((task, env, agent, number))):016x}"[:16]
        folder = self.layout.attempt_folder(task, env, agent, number)
        if log is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "agent.log").write_bytes(log)
        detail = {"folder": self.layout.relative(folder)}
        self.add(EventRow(run_id=RUN, task=task, env=env, event="started", attempt_id=ident, agent=agent,
                          number=number, role="planned", detail=detail))  # fmt: skip
        return ident

    def phase(self, ident: str, phase: str) -> None:
        self.add(EventRow(run_id=RUN, event="phase", attempt_id=ident, phase=phase))  # type: ignore[arg-type]

    def event(self, event: str, **fields: object) -> None:
        self.add(EventRow(run_id=RUN, event=event, **fields))  # type: ignore[arg-type]

    def attempt(
        self,
        task: str,
        env: str,
        agent: str | None,
        number: int,
        passed: bool | None,
        logs: dict[str, bytes] | None = None,
        **fields: object,
    ) -> None:
        folder = self.layout.attempt_folder(task, env, agent, number)
        files: dict[str, FileRef] = {}
        for part, content in (logs or {}).items():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{part}.log").write_bytes(content)
            relative = self.layout.relative(folder / f"{part}.log")
            files[f"{part}_log"] = FileRef(path=relative, sha256="0" * 64, bytes=len(content))
        self.add(attempt_row(task, env, agent, number, passed, files=files, **fields))


def run_row(agents: list[str], attempts: int, planned: int, jobs: int) -> RunRow:
    rule = Rule(flip_rate="1/10", min_pairs="9/10", attempts=attempts, verify_replays=1)
    facts = [AgentFact(name=name, agent_kind="scripted", digest="0" * 64) for name in agents]
    return RunRow(
        run_id=RUN, study_id="slice12", study_sha="1" * 64, rule=rule, rule_sha="2" * 64, harness_sha256="3" * 64,
        config_sha="4" * 64, controls_sha=None, agents=facts, claim=Claim(), plan_sha="5" * 64, planned=planned,
        subject="agent" if agents else "clean", mode="full" if agents else "clean", attempts=attempts, jobs=jobs,
        order_policy="interleaved", order_seed=1, dimension="timezone", dimension_facts=["TZ"], host="box",
        boot_id=None, pid=4121, root=False, python="3.11.7", platform="Linux", version="0.1.0",
    )  # fmt: skip


def task_row(task: str) -> TaskRow:
    return TaskRow(
        run_id=RUN, task=task, task_sha="6" * 64, oracle_sha="7" * 64, prompt_sha="8" * 64, verify_cmd=["sh", "v"],
        verify_timeout_s=60.0, reference=True,
    )  # fmt: skip


def env_row(env: str) -> EnvRow:
    return EnvRow(
        run_id=RUN, env=env, env_kind="local", env_sha="9" * 64, facts={}, volatile={}, capabilities={},
        variables={"TZ": "UTC"},
    )  # fmt: skip


def attempt_row(
    task: str, env: str, agent: str | None, number: int, passed: bool | None, **fields: object
) -> AttemptRow:
    values: dict[str, object] = {
        "attempt_id": f"{abs(hash((task, env, agent, number))):016x}"[:16], "agent": agent, "mode": "full",
        "role": "planned", "replaces": None, "env_sha": "9" * 64, "passed": passed,
        "exit_code": None if passed is None else int(not passed), "signal": None,
        "void": "interrupted" if passed is None else None, "void_causes": [], "wall_ms": 1500, "phases_ms": PhasesMs(),
        "verify_cmd": ["sh", "v"], "verify_runs": [], "verify_stdout_tail": None, "verify_stderr_tail": None,
        "agent_exit": 0, "agent_signal": None, "capped": False, "tokens_in": None, "tokens_out": None,
        "tokens_cached": None, "usage_source": None, "patch_sha256": "a" * 64, "patch_error": None, "dropped": [],
        "task_sha": "6" * 64, "oracle_sha": "7" * 64, "prompt_sha": "8" * 64, "resources": Resources(),
        "host_load": None, "enforced": {}, "order_index": None, "files": {},
    }  # fmt: skip
    values.update(fields)
    return AttemptRow(run_id=RUN, task=task, env=env, attempt=number, **values)  # type: ignore[arg-type]


TASKS = (
    "t01_page_boundary", "t02_tz_offset", "t03_null_guard", "t04_http_status", "t05_unique_index",
    "t06_retry_budget", "t07_discount_order", "t08_shared_default", "t09_word_split", "t10_pipe_status",
    "t11_折扣规则", "t12_parse_dates",
)  # fmt: skip


def story(path: Path, clock: Clock | None = None, upto: int = 12) -> Book:
    """Twelve tasks, two agents, two environments: one flip, one void, one excluded, one running at the end."""
    book = Book(path, clock)
    book.begin(TASKS)
    book.event("screened", task=TASKS[9], env="here", outcome="already_solved", reason="verify passes untouched")
    for place, task in enumerate(TASKS[:upto]):
        if place == 9:
            continue
        for agent in ("strong", "weak"):
            for env in ("here", "there"):
                for number in range(2):
                    ident = book.started(task, env, agent, number)
                    book.phase(ident, "agent")
                    if (place, agent, env, number) == (10, "weak", "there", 1):
                        book.attempt(task, env, agent, number, None, void="oracle_mutated",
                                     void_causes=["oracle_mutated"], void_detail="oracle/test.py differs")  # fmt: skip
                        continue
                    passed = (place != 1 or env == "here") if agent == "strong" else place % 2 == 0
                    book.attempt(task, env, agent, number, passed, logs=_logs(task, agent, passed))
    return book


def _logs(task: str, agent: str, passed: bool) -> dict[str, bytes]:
    said = f"{agent} reads {task}\nedits \x1b[32msrc/main.py\x1b[0m (+3 -1)\nruns its own tests: \x1b[1;32mok\x1b[0m\n"
    verdict = "\x1b[32mOK\x1b[0m" if passed else "\x1b[31mFAILED\x1b[0m (failures=1)"
    verify = "".join(f"test_case_{number} ... ok\n" for number in range(30)) + f"Ran 31 tests\n\n{verdict}\n"
    return {"agent": said.encode(), "verify": verify.encode()}
