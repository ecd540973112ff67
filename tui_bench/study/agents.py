"""Agents: agents.yaml, or the same list in bench.yaml, or one command from the command line."""

from __future__ import annotations

from pathlib import Path

from tui_bench.study.environments import NETWORK_CURES, NETWORKS, base_url
from tui_bench.study.model import Agent, AgentKind
from tui_bench.study.names import id_fault, unknown, variable_fault
from tui_bench.study.ranges import RETRIES, SECONDS, SEED, TOKENS
from tui_bench.study.reading import Reading, show
from tui_bench.study.schema import Fields, note_same_names
from tui_bench.study.strict_yaml import Entries, Items, Node, read
from tui_bench.study.urls import PLACEHOLDER
from tui_bench.study.variables import agent_refusal

KEYS = (
    "name", "kind", "command", "model", "base_url", "max_tokens", "retries", "seed", "timeout_s", "env", "pass_env",
    "login_files", "network", "readable_paths", "usage",
)  # fmt: skip
KINDS: tuple[AgentKind, ...] = ("command", "scripted", "nop", "oracle")
_PRESETS = ("claude", "codex", "mini-swe-agent", "aider", "gemini", "qwen", "opencode", "pi")
COMMAND_LINE_NAME = "agent-cmd"


def read_agents(file: Path, reading: Reading) -> tuple[Agent, ...]:
    """The agents of a file; faults are noted."""
    node = read(file, reading)
    return () if node is None else agents_of(node, file, reading)


def agents_of(node: Node, file: Path, reading: Reading) -> tuple[Agent, ...]:
    """The agents of a list."""
    if not isinstance(node, Items) or not node.nodes:
        reading.problem(file, node.line, "agents are a list of mappings such as '- {name: mine, command: [./run]}'")
        return ()
    found: list[tuple[Agent, int]] = []
    for item in node.nodes:
        if not isinstance(item, Entries):
            reading.problem(file, item.line, "an agent is a mapping such as {name: mine, command: [./run]}")
            continue
        fields = Fields(item, file, reading, KEYS)
        agent = _agent(fields)
        if agent is not None:
            found.append((agent, fields.line("name")))
    note_same_names(reading, "agent", [(agent.name, file, line) for agent, line in found])
    return tuple(agent for agent, _ in found)


def command_line_agent(command: str) -> Agent:
    """The agent of `--agent-cmd`: a `sh -c` text, program paths relative to the current folder."""
    return Agent(name=COMMAND_LINE_NAME, command=command, folder=Path.cwd())


def _agent(fields: Fields) -> Agent | None:
    fields.require("name")
    name = fields.text("name")
    fault = id_fault(name) if name is not None else None
    if fault:
        fields.refuse("name", f"{show(name or '')} {fault}")
    kind = _kind(fields)
    _check_command(fields, kind)
    folder = fields.file.parent
    agent = Agent(
        name=name or "",
        kind=kind or "command",
        command=fields.command("command"),
        folder=folder,
        model=_model(fields),
        base_url=base_url(fields),
        max_tokens=fields.integer("max_tokens", TOKENS),
        retries=fields.integer("retries", RETRIES) or 0,
        seed=fields.integer("seed", SEED),
        timeout_s=fields.number("timeout_s", SECONDS),
        variables=fields.variables("env", agent_refusal),
        pass_env=_pass_env(fields),
        login_files=fields.paths("login_files", folder),
        network=fields.choice("network", NETWORKS, NETWORK_CURES),
        readable_paths=fields.paths("readable_paths", folder),
        usage=fields.text("usage"),
    )
    return agent if name is not None else None


def _kind(fields: Fields) -> AgentKind | None:
    text = fields.text("kind")
    if text is None:
        return "command"
    for kind in KINDS:
        if kind == text:
            return kind
    if text in _PRESETS:
        fields.refuse("kind", f"preset {show(text)} is not available in this version; use kind: command")
    else:
        fields.refuse("kind", unknown("kind", text, KINDS))
    return None


def _check_command(fields: Fields, kind: AgentKind | None) -> None:
    if kind in ("command", "scripted") and "command" not in fields:
        fields.refuse("command", f"is missing; kind {kind} runs one, such as [python3, agent.py]")
    if kind in ("nop", "oracle") and "command" in fields:
        fields.refuse("command", f"kind {kind} runs no command; remove the key")


def _model(fields: Fields) -> str | None:
    text = fields.text("model")
    if text is not None and PLACEHOLDER in text:
        fields.refuse("model", f"still holds {PLACEHOLDER}; put the model's name there")
    return text


def _pass_env(fields: Fields) -> tuple[str, ...]:
    names = fields.texts("pass_env") or ()
    for name in names:
        fault = variable_fault(name) or agent_refusal(name)
        if fault:
            fields.refuse("pass_env", fault)
    return names
