"""bench.yaml, bare folders and slices: what a load gives, and what it says when it gives nothing."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from tui_bench.errors import UsageError
from tui_bench.study.bare import load as load_bare
from tui_bench.study.draft import NO_DIMENSION, usable_cpus
from tui_bench.study.load import load_study
from tui_bench.study.model import Gate, Order

BENCH = "study: flip12\ntasks: tasks/\nenvironments: envs.tsv\n"
AGENTS = "- {name: strong, command: [python3, strong.py]}\n- {name: weak, kind: nop}\n"
CONTROLS = """\
slice_id: slice24
unit_of_analysis: one_attempt_per_task
max_attempts: 1
wall_clock_sec: 180
cpus: 2
memory_mb: 2048
network: denied
writable_paths: ["repo/"]
oracle_cmd: "python -m pytest oracle/ -q"
oracle_sha256_file: oracle/sha256.txt
seed_policy: fixed
language_toolchain: "python3.11"
forbidden_edits: ["oracle/", "controls.yaml"]
replay_required: 2
max_replay_drift: 0
"""


def test_defaults_of_a_study_without_agents(desk) -> None:
    desk.study()
    study = desk.load()
    assert (study.id, study.subject, study.attempts, study.verify_replays) == ("flip12", "clean", 2, 1)
    assert (study.gate, study.order, study.jobs) == (Gate(Fraction(1, 10), Fraction(9, 10)), Order(), usable_cpus())
    assert study.root == desk.root
    assert NO_DIMENSION in study.notes
    assert [name for name, _ in study.sources] == ["bench.yaml", "envs.tsv"]


def test_defaults_of_a_study_with_live_agents(desk) -> None:
    desk.study(bench_dot_yaml=BENCH + "agents: agents.yaml\ndimension: timezone\n", agents_dot_yaml=AGENTS)
    study = desk.load()
    assert (study.subject, study.attempts, study.verify_replays) == ("agent", 3, 2)
    assert [(agent.name, agent.kind, agent.command) for agent in study.agents] == [
        ("strong", "command", ("python3", "strong.py")),
        ("weak", "nop", None),
    ]
    assert study.agents[0].folder == desk.root
    assert study.notes == ()


def test_subject_is_reference_where_every_task_has_one(desk) -> None:
    desk.study()
    desk.task("t01", reference_dot_patch="diff --git a/x b/x\n")
    assert desk.load().subject == "reference"
    desk.task("t02")
    assert desk.load().subject == "clean"


def test_everything_written_down_is_taken(desk) -> None:
    desk.study(
        bench_dot_yaml=BENCH
        + "agents: agents.yaml\nsubject: clean\nattempts: 4\nverify_replays: 0\njobs: 7\nclaim: claim.yaml\n"
        + "order: {policy: sequential, seed: -3}\ngate: {flip_rate: 0.125, min_pairs: 5/6}\n"
        + "dimension: {name: shell, facts: ['tool.sh', 'env.*']}\n",
        agents_dot_yaml=AGENTS,
        claim_dot_yaml="task_set: x\n",
    )
    study = desk.load()
    assert (study.subject, study.attempts, study.verify_replays, study.jobs) == ("clean", 4, 0, 7)
    assert study.gate == Gate(Fraction(1, 8), Fraction(5, 6))
    assert study.order == Order("sequential", -3)
    assert study.dimension is not None
    assert study.dimension.facts == ("tool.sh", "env.*")
    assert study.claim == desk.root / "claim.yaml"
    assert (study.agents, [agent.name for agent in study.declared_agents]) == ((), ["strong", "weak"])


def test_inline_environments_agents_and_controls(desk) -> None:
    desk.study(
        bench_dot_yaml="study: s\ntasks: tasks\n"
        "environments:\n"
        "  - {name: here, env: {TZ: UTC, FLAG: yes}}\n"
        "  - {name: box, kind: sandbox, timeout_s: 5, cpus: 0.5, env.TZ: Asia/Tokyo}\n"
        "agents: [{name: a, command: './run --fast', env: {EMPTY: ''}, pass_env: [API_KEY], login_files: [~/.a]}]\n"
        "controls: {network: denied, replay_required: 2}\n"
    )
    study = desk.load()
    here, box = study.environments
    assert here.variables == (("TZ", "UTC"), ("FLAG", "yes"))
    assert (box.kind, box.timeout_s, box.cpus, box.variables) == ("sandbox", 5.0, 0.5, (("TZ", "Asia/Tokyo"),))
    (agent,) = study.agents
    assert (agent.command, agent.variables, agent.pass_env) == ("./run --fast", (("EMPTY", ""),), ("API_KEY",))
    assert agent.login_files == (Path.home() / ".a",)
    assert study.controls is not None
    assert study.attempts == 2, "replay_required of the controls is the default of attempts"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("retrys: 1", "bench/bench.yaml:4: unknown key 'retrys'"),
        ("atempts: 1", "bench/bench.yaml:4: unknown key 'atempts'; nearest known: 'attempts'"),
        ("jobs: 0", "jobs: 0 is out of range; allowed: 1 to 1000"),
        ("jobs: 1.5", "jobs: '1.5' is not a whole number"),
        ("attempts: 0", "attempts: 0 is out of range; allowed: 1 to 1000"),
        ("attempts: true", "attempts: 'true' is not a whole number"),
        ("attempts: '2'", "attempts: '2' is in quotes, so it is text; allowed: 1 to 1000, without quotes"),
        ("attempts: [2]", "attempts: is a list; allowed: 1 to 1000"),
        ("attempts:", "attempts: is empty; allowed: 1 to 1000"),
        ("attempts: " + "9" * 5000, "is not a whole number"),
        ("verify_replays: -1", "verify_replays: -1 is out of range; allowed: 0 to 100"),
        ("gate: {flip_rate: 10}", "flip_rate: 10 is out of range; allowed: 0 to 1 (ten per cent is 0.10)"),
        ("gate: {flip_rate: 10%}", "flip_rate: '10%' is not a share such as 0.10 or 1/10"),
        ("gate: {min_pairs: 1/0}", "min_pairs: '1/0' is not a share"),
        ("gate: {min_pairs: '0.9'}", "min_pairs: '0.9' is in quotes"),
        ("gate: 0.1", "gate: is '0.1'; a mapping such as {flip_rate: ..., min_pairs: ...} is wanted"),
        ("order: {policy: random}", "policy: 'random' is not known; known: interleaved, sequential"),
        ("order: {seed: 010}", "seed: '010' is not a whole number"),
        ("subject: agents", "subject: 'agents' is not known; known: clean, reference, patch, agent"),
        ("subject: agent", "subject: agent needs an agent; name agents or give --agent-cmd"),
        ("subject: patch", "subject: patch is not available in this version; use agent or reference"),
        ("subject: reference", "subject: reference needs a reference.patch in 't01'"),
        ("dimension: timezones", "unknown dimension 'timezones'; nearest known: 'timezone'; known: timezone, locale"),
        ("dimension: {name: x}", "key 'facts' is missing"),
        ("dimension:", "dimension: write one of timezone"),
        ("claim: no.yaml", "claim: 'no.yaml' is no file"),
        ("agents: no.yaml", "agents: 'no.yaml' does not exist"),
        ("agents: []", "agents are a list of mappings"),
        ("controls: []", "controls are a mapping"),
        ("controls: {sed_policy: fixed}", "unknown key 'sed_policy'; nearest known: 'seed_policy'"),
        ("attempts: 1\ncontrols: {replay_required: 2}", "attempts: 1 is less than the 2 that replay_required asks for"),
    ],
)
def test_b49_b51_refused_with_file_line_and_cure(desk, text: str, words: str) -> None:
    desk.study(bench_dot_yaml=f"{BENCH}{text}\n")
    assert words in desk.problem()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("network: off", "network: 'off' is not known; write denied; known: open, endpoint, denied"),
        ("wall_clock_sec: 1e3", "wall_clock_sec: '1e3' is not a number in plain digits"),
        ("replay_required: true", "replay_required: 'true' is not a whole number"),
        ("max_attempts: 3", "max_attempts: 3 is out of range; allowed: 1"),
        ("max_attempts: 0", "max_attempts: 0 is out of range; allowed: 1 to 1000"),
        ("unit_of_analysis: pass_at_k", "known: one_attempt_per_task"),
        ("seed_policy: random", "known: fixed"),
        ("max_replay_drift: -1", "allowed: 0 to 1000000 cells"),
        ("writable_paths: []", "writable_paths: is an empty list"),
        ("forbidden_edits: [/etc]", "'/etc' leaves the tree"),
        ("forbidden_edits: oracle", "forbidden_edits: is 'oracle'; a list such as [a, b] is wanted"),
        ("cpus: 0", "cpus: 0 is out of range; allowed: 0.1 to 4096 CPUs"),
    ],
)
def test_b49_controls_are_taken_as_written_or_refused(desk, text: str, words: str) -> None:
    desk.study(bench_dot_yaml=BENCH + "controls: controls.yaml\n", controls_dot_yaml=f"slice_id: 010\n{text}\n")
    found = desk.problem()
    assert found.startswith("bench/controls.yaml:2: ")
    assert words in found


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("{name: a, kind: claude, command: x}", "preset 'claude' is not available in this version; use kind: command"),
        ("{name: a, kind: comand, command: x}", "unknown kind 'comand'; nearest known: 'command'"),
        ("{name: a}", "command: is missing; kind command runs one"),
        ("{name: a, kind: nop, command: x}", "kind nop runs no command"),
        ("{name: a, command: []}", "command: is an empty list"),
        ("{name: a, command: ['']}", "begins with an empty text"),
        ("{name: a, command: ' '}", "command: is empty"),
        ("{command: x}", "key 'name' is missing"),
        ("{name: -a, command: x}", "begins with '-'"),
        ("{name: a, command: x, retries: '0'}", "retries: '0' is in quotes"),
        ("{name: a, command: x, retrys: 0}", "unknown key 'retrys'; nearest known: 'retries'"),
        ("{name: a, command: x, model: REPLACE_ME}", "model: still holds REPLACE_ME"),
        ("{name: a, command: x, base_url: 'http://REPLACE_ME/v1'}", "base_url: still holds REPLACE_ME"),
        ("{name: a, command: x, base_url: 'http://u:hunter2@h'}", "base_url: holds a user name or password"),
        ("{name: a, command: x, base_url: localhost:80}", "is not a URL"),
        ("{name: a, command: x, max_tokens: 0}", "max_tokens: 0 is out of range"),
        ("{name: a, command: x, timeout_s: .inf}", "timeout_s: '.inf' is not a number"),
        ("{name: a, command: x, env: {SEED: 1}}", "SEED is set by the tool"),
        ("{name: a, command: x, pass_env: [HOME]}", "HOME is set for every attempt"),
        ("just-a-name", "an agent is a mapping"),
    ],
)
def test_agents_that_cannot_be_run_as_written(desk, agent: str, words: str) -> None:
    agents = f"- {{name: ok, kind: nop}}\n- {agent}\n"
    desk.study(bench_dot_yaml=BENCH + "agents: agents.yaml\n", agents_dot_yaml=agents)
    found = desk.problem()
    assert found.startswith("bench/agents.yaml:2: ")
    assert words in found
    assert "hunter2" not in found


def test_b54_two_agents_of_one_name_are_refused_with_both_lines(desk) -> None:
    agents = "- {name: a, kind: nop}\n\n- {name: a, kind: oracle}\n"
    desk.study(bench_dot_yaml=BENCH + "agents: agents.yaml\n", agents_dot_yaml=agents)
    assert desk.problem() == "bench/agents.yaml:3: agent 'a' is taken by 'a' (line 1); rename one"


def test_problems_of_all_files_come_at_once_in_file_and_line_order(desk) -> None:
    desk.study(
        bench_dot_yaml=BENCH + "agents: agents.yaml\njobs: 0\n",
        agents_dot_yaml="- {name: a}\n- {nam: b}\n",
        envs_dot_tsv="name\ttimeout_s\na\t0\n",
    )
    desk.task("t02", prompt_dot_md=b"\xff")
    places = [line.split(": ")[0] for line in desk.problems()]
    assert places == [
        "bench/agents.yaml:1", "bench/agents.yaml:2", "bench/agents.yaml:2", "bench/agents.yaml:2",
        "bench/bench.yaml:5", "bench/envs.tsv:2", "bench/tasks/t02/prompt.md",
    ]  # fmt: skip


def test_missing_keys_are_named(desk) -> None:
    desk.study(bench_dot_yaml="jobs: 1\n")
    wanted = ("study", "tasks", "environments")
    assert desk.problems() == [f"bench/bench.yaml:1: key {key!r} is missing" for key in wanted]


@pytest.mark.parametrize("tasks", ["tasks.jsonl", "nowhere", "tasks/t01"])
def test_tasks_that_are_no_folder_of_tasks(desk, tasks: str) -> None:
    desk.study(bench_dot_yaml=BENCH.replace("tasks/", tasks))
    words = {
        "tasks.jsonl": "bench/bench.yaml:2: tasks: .jsonl is not available in this version",
        "nowhere": "bench/bench.yaml:2: tasks: 'nowhere' is no folder",
        "tasks/t01": "bench/tasks/t01: is itself a task",
    }
    assert words[tasks] in desk.problem()


def test_a_bare_folder_declares_no_dimension(desk) -> None:
    desk.study()
    (desk.root / "bench.yaml").unlink()
    study = desk.load()
    assert (study.id, study.subject, study.dimension, study.notes) == ("bench", "clean", None, (NO_DIMENSION,))
    assert study == load_bare(desk.root)


def test_a_bare_folder_with_an_agent_command(desk) -> None:
    desk.study()
    (desk.root / "bench.yaml").unlink()
    study = desk.load(agent_cmd="mine --fast {prompt_file}")
    (agent,) = study.agents
    assert (agent.command, study.subject, study.attempts) == ("mine --fast {prompt_file}", "agent", 3)
    with pytest.raises(UsageError, match="--agent-cmd is empty"):
        desk.load(agent_cmd=" ")


def test_an_agent_command_takes_the_place_of_declared_agents(desk) -> None:
    desk.study(bench_dot_yaml=BENCH + "agents: [{name: a, kind: nop}]\nsubject: clean\n")
    study = desk.load(agent_cmd="mine")
    assert ([agent.name for agent in study.agents], study.subject) == (["agent-cmd"], "agent")


def test_r3_03_a_slice_folder_loads_with_its_controls(desk) -> None:
    desk.write("controls.yaml", CONTROLS)
    desk.write("TASKS.md", "T01 discount rule, Python\n")
    desk.task("T01_discount", oracle__test_discount_dot_py="assert True\n", oracle__sha256_dot_txt="0\n")
    study = desk.load()
    assert (study.id, study.subject, study.attempts) == ("slice24", "clean", 2)
    assert [environment.name for environment in study.environments] == ["local"]
    assert study.tasks[0].verify == 'cd "$ORACLE_DIR/.." || exit 127\npython -m pytest oracle/ -q'
    assert study.controls is not None
    assert (study.controls.network, study.controls.forbidden_edits) == ("denied", ("oracle/", "controls.yaml"))


@pytest.mark.parametrize("name", ["nowhere", "bench/notes.txt", "bench", "bench/eval.config.json"])
def test_paths_that_are_no_study_get_one_line_with_the_cure(desk, name: str) -> None:
    desk.write("notes.txt", "x")
    if name.endswith(".json"):
        desk.write("eval.config.json", "{}")
    with pytest.raises(UsageError) as caught:
        load_study(Path(name))
    said = str(caught.value)
    assert name in said
    assert "bench.yaml" in said
    assert "\n" not in said


def test_the_digest_is_of_the_study_and_not_of_its_place(desk, tmp_path: Path) -> None:
    desk.study(bench_dot_yaml=BENCH + "agents: agents.yaml\njobs: 2\n", agents_dot_yaml=AGENTS)
    here = desk.load()
    shutil.copytree(desk.root, tmp_path / "elsewhere")
    assert load_study(tmp_path / "elsewhere" / "bench.yaml").digest == here.digest


@pytest.mark.parametrize(
    ("name", "old", "new", "same"),
    [
        ("bench.yaml", "jobs: 2", "jobs: 3", True),
        ("bench.yaml", "jobs: 2", "# words\njobs: 2", True),
        ("bench.yaml", "jobs: 2", "gate: {flip_rate: 1/10}", True),
        ("bench.yaml", "jobs: 2", "gate: {flip_rate: 0.11}", False),
        ("bench.yaml", "jobs: 2", "attempts: 4", False),
        ("envs.tsv", "120", "121", False),
        ("envs.tsv", "auto", "/srv/ws", True),
        ("tasks/t01/task.yaml", "timeout: 9", "timeout: 8", False),
        ("agents.yaml", "strong.py", "stronger.py", False),
    ],
)
def test_the_digest_changes_exactly_when_a_verdict_may(desk, name: str, old: str, new: str, same: bool) -> None:
    desk.study(
        bench_dot_yaml=BENCH + "agents: agents.yaml\njobs: 2\n",
        agents_dot_yaml=AGENTS,
        tasks__t01__task_dot_yaml="verify_timeout: 9\n",
    )
    before = desk.load().digest
    text = (desk.root / name).read_text()
    assert old in text
    desk.write(name, text.replace(old, new))
    assert (desk.load().digest == before) is same
