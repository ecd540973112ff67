"""Which environment variables a study may set, and where."""

from __future__ import annotations

_TOOL = (
    "MODEL_ID", "BASE_URL", "MAX_TOKENS", "RETRIES", "SEED", "PROMPT_FILE", "WORKSPACE", "ATTEMPT_ID", "USAGE_FILE",
    "REPO_DIR", "ORACLE_DIR", "TMPDIR",
)  # fmt: skip
_FIXED = ("PATH", "HOME")


def environment_refusal(name: str) -> str | None:
    """Why an environment may not set a variable: it would replace the interpreter or the tool's own folders."""
    if name in _FIXED or name.startswith(("LD_", "PYTHON")):
        return f"{name} may not be set by an environment; refused: PATH, HOME, LD_*, PYTHON*"
    return _tool_refusal(name)


def agent_refusal(name: str) -> str | None:
    """Why an agent's `env` or `pass_env` may not name a variable."""
    if name in _FIXED:
        return f"{name} is set for every attempt and may not be changed; for files of a login use login_files"
    return _tool_refusal(name)


def _tool_refusal(name: str) -> str | None:
    return f"{name} is set by the tool for every attempt; choose another name" if name in _TOOL else None
