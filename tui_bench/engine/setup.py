"""From a loaded study to a runner that stands ready, for a new ledger and for one that is gone on with.

Whatever can be refused is refused here, before the first row: controls that cannot be enforced, workspaces that must
not be used, tasks that cannot be copied, a ledger that somebody else writes. Only then is the ledger opened.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tui_bench.engine import host, identity, template
from tui_bench.engine.context import Emit, Job, RunContext
from tui_bench.engine.first_rows import changed_since, env_rows, task_rows
from tui_bench.engine.git import git_program
from tui_bench.engine.guard import check_workspace_root, claim_root
from tui_bench.engine.plan import Plan, Selection, make_plan, read_selection, write_plan
from tui_bench.engine.prompts import keep_prompts
from tui_bench.engine.recovery import lost_rows, recovered_event
from tui_bench.engine.remaining import History, history_of, remaining, remaining_fresh
from tui_bench.engine.requests import RequestServer, RunnerFile, socket_path
from tui_bench.engine.reruns import Asked, Checked, Reruns, check_asked
from tui_bench.engine.runner import Runner
from tui_bench.engine.selection import load_selected
from tui_bench.engine.template import Template
from tui_bench.engine.workspace import RunRoot, default_workspace
from tui_bench.environments.base import Environment
from tui_bench.environments.environment import Wanted, open_environment
from tui_bench.errors import EnvironmentUnavailable, LedgerDamaged, LedgerError
from tui_bench.ledger.reader import scan
from tui_bench.ledger.rows import AnyRow, RunRow
from tui_bench.ledger.runs import Layout
from tui_bench.ledger.writer import LedgerWriter
from tui_bench.study.digest import TaskDigests, task_digests
from tui_bench.study.model import Study

Observe = Callable[[AnyRow], None]


@dataclass(slots=True)
class Prepared:
    """A runner with its ledger and its socket. `run` closes everything at its end."""

    runner: Runner
    writer: LedgerWriter
    server: RequestServer
    roots: Sequence[RunRoot]
    failures: list[str] = field(default_factory=list)
    """One line for each folder that could not be removed at the end."""

    async def run(self) -> str:
        """Run to the end; returns `complete`, `stopped` or `interrupted`. Raises LedgerError."""
        await self.server.start()
        try:
            how = await self.runner.run()
            await self.writer.durable()
            return how
        finally:
            await self.server.close()
            self.writer.close()
            for root in self.roots:
                root.close()
                self.failures += root.failures


async def set_up(study: Study, selection: Selection, layout: Layout, run_id: str, observe: Observe) -> Prepared:
    """Prepare a new run. Raises TuiBenchError of every kind; nothing is left behind then but empty folders."""
    plan = make_plan(study, selection)
    async with _prepared_ground(study, run_id, layout) as ground:
        with _opened(layout, run_id) as writer:
            if writer.rows:
                raise LedgerError(f"{layout.ledger}: exists; `tui-bench resume` goes on with it")
            layout.files.mkdir(parents=True, exist_ok=True)
            write_plan(layout.plan, plan)
            context = _context(study, run_id, layout, ground, _emitter(writer, observe))
            context.emit(identity.run_row(study, plan, run_id, resumed=False))
            for task_row in task_rows(context):
                context.emit(task_row)
            for env_row in env_rows(context):
                context.emit(env_row)
            history = History()
            return _prepared(context, writer, history, remaining(plan, history), Reruns(context, plan, history))


async def set_up_resume(
    layout: Layout, jobs: int | None, observe: Observe, asked: Asked | None = None
) -> Prepared | None:
    """Prepare to go on with a ledger, or to make only what is `asked`; None when nothing is left to do.

    Raises TuiBenchError of every kind.
    """
    rows = _rows(layout.ledger)
    history = history_of(rows)
    if history.run is None:
        raise LedgerError(f"{layout.ledger}: has no run row, so there is nothing to go on with")
    selection = read_selection(layout.plan, history.run.plan_sha)
    study = load_selected(selection, jobs=jobs)
    plan = make_plan(study, selection)
    now = identity.run_row(study, plan, history.run.run_id, resumed=True)
    _refuse_differences(layout.ledger, identity.differing_fields(history.run, now))
    fresh = remaining_fresh(plan, history, study.order.seed)
    if asked is None and not history.open and history.ended and not remaining(plan, history) and not fresh:
        return None
    checked = None if asked is None else check_asked(asked, rows, history, unfinished=bool(fresh))
    with _opened(layout, now.run_id) as writer:
        async with _prepared_ground(study, now.run_id, layout) as ground:
            context = _context(study, now.run_id, layout, ground, _emitter(writer, observe))
            return _resumed(rows, history, plan, context, writer, now, checked)


@contextmanager
def _opened(layout: Layout, run_id: str) -> Iterator[LedgerWriter]:
    """The ledger for writing; closed when what follows fails, and gone again where no row came into it."""
    writer = LedgerWriter.open(layout.ledger, run_id=run_id)
    try:
        yield writer
    except BaseException:  # given back on a cancel or an interrupt too; raised again
        empty = writer.rows == 0
        writer.close()
        if empty:
            layout.ledger.unlink(missing_ok=True)
        raise


def _resumed(
    rows: list[AnyRow],
    history: History,
    plan: Plan,
    context: RunContext,
    writer: LedgerWriter,
    now: RunRow,
    checked: Checked | None,
) -> Prepared:
    """Write the rows a resume begins with and make its runner."""
    _refuse_differences(context.layout.ledger, changed_since(rows, context))
    context.emit(now)
    if writer.recovered is not None:
        context.emit(recovered_event(now.run_id, writer.recovered))
    for env_row in env_rows(context):
        context.emit(env_row)
    for lost in list(lost_rows(context, history)):
        history.add(context.emit(lost))
    planned = remaining(plan, history)
    fresh = remaining_fresh(plan, history, context.study.order.seed)
    reruns = Reruns(context, plan, history)
    if checked is None:
        return _prepared(context, writer, history, planned + fresh, reruns)
    return _prepared(context, writer, history, reruns.jobs(checked, fresh), reruns, left_out=len(planned))


def _refuse_differences(ledger: Path, fields: list[str]) -> None:
    if fields:
        raise LedgerError(f"{ledger}: not the same study any more, start a new run; what differs: {'; '.join(fields)}")


def _rows(ledger: Path) -> list[AnyRow]:
    rows = []
    for line in scan(ledger):
        if line.row is not None:
            rows.append(line.row)
        elif line.fault is not None and line.fault.kind != "unknown_kind":
            raise LedgerDamaged(f"{ledger}:{line.number}: {line.fault.message}; see `tui-bench fsck {ledger}`")
    return rows


@dataclass(slots=True)
class _Ground:
    environments: dict[str, Environment]
    unavailable: dict[str, str]
    roots: dict[str, RunRoot]
    templates: dict[str, Template]
    digests: dict[str, TaskDigests]


@asynccontextmanager
async def _prepared_ground(study: Study, run_id: str, layout: Layout) -> AsyncIterator[_Ground]:
    """Workspaces, environments and templates; the workspaces are given back when what follows fails."""
    places = _checked_places(study, layout)
    roots: dict[Path, RunRoot] = {}
    try:
        if study.subject == "reference":
            git_program()
        for place in places.values():
            if place not in roots:
                roots[place] = RunRoot.open(claim_root(place), run_id)
        environments, unavailable = await _open_environments(study)
        by_env = {name: roots[place] for name, place in places.items()}
        templates: dict[str, Template] = {}
        digests: dict[str, TaskDigests] = {}
        for task in study.tasks:
            templates[task.id] = await asyncio.to_thread(
                template.build_template, task, by_env[study.environments[0].name], with_git=study.subject == "agent"
            )
            digests[task.id] = await asyncio.to_thread(task_digests, task)
        yield _Ground(environments, unavailable, by_env, templates, digests)
    except BaseException:  # given back on a cancel or an interrupt too; raised again
        for root in roots.values():
            root.close()
        raise


def _checked_places(study: Study, layout: Layout) -> dict[str, Path]:
    """Environment name -> workspace root; every path that a person typed passes the guard before any is touched."""
    forbidden = (study.root, layout.ledger.parent, Path(__file__).resolve().parent.parent, Path.cwd())
    typed = {one.name: one.workspace for one in study.environments}
    return {
        name: check_workspace_root(path, forbidden=forbidden) if path is not None else default_workspace()
        for name, path in typed.items()
    }


async def _open_environments(study: Study) -> tuple[dict[str, Environment], dict[str, str]]:
    """Prepared environments, and why others cannot be used. Raises when none can, or a control is refused."""
    ready: dict[str, Environment] = {}
    unavailable: dict[str, str] = {}
    for declared in study.environments:
        environment = open_environment(declared, wanted=_wanted(study))
        try:
            await environment.prepare()
        except EnvironmentUnavailable as error:
            unavailable[declared.name] = str(error)
        else:
            ready[declared.name] = environment
    if not ready:
        raise EnvironmentUnavailable("; ".join(f"{name}: {why}" for name, why in unavailable.items()))
    return ready, unavailable


def _wanted(study: Study) -> Wanted:
    """Controls the study asks for by name."""
    controls = study.controls
    asked = [agent.network for agent in study.agents] + [controls.network if controls else None]
    return Wanted(
        network_denied="denied" in asked,
        network_endpoint="endpoint" in asked,
        memory_mb=controls.memory_mb if controls else None,
        cpus=controls.cpus if controls else None,
    )


def _emitter(writer: LedgerWriter, observe: Observe) -> Emit:
    def emit(row: AnyRow) -> AnyRow:
        written = writer.append(row)
        observe(written)
        return written

    return emit


def _context(study: Study, run_id: str, layout: Layout, ground: _Ground, emit: Emit) -> RunContext:
    return RunContext(
        study=study,
        run_id=run_id,
        layout=layout,
        emit=emit,
        mode=identity.MODES[study.subject],
        roots=ground.roots,
        templates=ground.templates,
        digests=ground.digests,
        environments=ground.environments,
        unavailable=ground.unavailable,
    )


def _prepared(
    context: RunContext,
    writer: LedgerWriter,
    history: History,
    jobs: list[Job],
    reruns: Reruns,
    left_out: int = 0,
) -> Prepared:
    runner = Runner(context, writer, jobs, reruns, screened=history.screened, left_out=left_out)
    keep_prompts(context.study, context.layout)
    socket = socket_path(context.run_id)
    server = RequestServer(socket, runner.answer)
    RunnerFile(
        run_id=context.run_id,
        ledger=str(context.layout.ledger.absolute()),
        socket=str(socket),
        pid=os.getpid(),
        start_time=host.start_time(os.getpid()),
        host=host.host_name(),
        boot_id=host.boot_id(),
    ).write(context.layout.runner)
    return Prepared(runner, writer, server, list(dict.fromkeys(context.roots.values())))
