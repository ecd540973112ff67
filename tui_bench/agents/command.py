"""From an agent's template to the argv that is started.

The command sees its variables twice: as environment variables (MODEL_ID, PROMPT_FILE, ...) and as `{model_id}`,
`{prompt_file}`, ... in its own words. A command in words is never read by a shell; one written as a string is a
`sh -c` text, and what is filled into it is quoted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from tui_bench.study.model import Agent

VARIABLES = (
    "MODEL_ID", "BASE_URL", "MAX_TOKENS", "RETRIES", "SEED", "PROMPT_FILE", "WORKSPACE", "ATTEMPT_ID", "USAGE_FILE",
)  # fmt: skip
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def variables(agent: Agent, *, prompt_file: str, workspace: str, attempt_id: str, usage_file: str) -> dict[str, str]:
    """The nine variables of a command; what the agent does not declare is an empty text."""
    values = {
        "MODEL_ID": agent.model,
        "BASE_URL": agent.base_url,
        "MAX_TOKENS": agent.max_tokens,
        "RETRIES": agent.retries,
        "SEED": agent.seed,
        "PROMPT_FILE": prompt_file,
        "WORKSPACE": workspace,
        "ATTEMPT_ID": attempt_id,
        "USAGE_FILE": usage_file,
    }
    return {name: "" if values[name] is None else str(values[name]) for name in VARIABLES}


def argv(agent: Agent, values: Mapping[str, str]) -> tuple[str, ...]:
    """The words to start. A word that names a file beside agents.yaml becomes its absolute path."""
    if agent.command is None:
        raise ValueError(f"agent {agent.name} has no command")
    if isinstance(agent.command, str):
        quoted = {name: shlex.quote(value) for name, value in values.items()}
        return ("sh", "-c", _filled(agent.command, quoted))
    return tuple(_filled(_located(word, agent.folder), values) for word in agent.command)


def program_folders(agent: Agent) -> tuple[Path, ...]:
    """Folders that must be readable for the command's own files to be found."""
    words = agent.command if isinstance(agent.command, tuple) else ()
    found = {(agent.folder / word).resolve().parent for word in words if (agent.folder / word).is_file()}
    return tuple(sorted(found))


def _located(word: str, folder: Path) -> str:
    path = folder / word
    return str(path.resolve()) if "/" in word and path.is_file() else word


def _filled(word: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return values.get(match[1].upper(), match[0])

    return PLACEHOLDER.sub(value, word)
