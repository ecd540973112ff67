"""Notices an agent that does not work at all, before it has spoiled the whole run.

An authentication error looks like a failed task: the agent ends at once with an error, changes nothing and reports no
usage. Such attempts are scored as they are; three in a row by one agent stop the run with a question.
"""

from __future__ import annotations

from collections import defaultdict

from tui_bench.ledger.rows import AttemptRow

IN_A_ROW = 3
AT_ONCE_MS = 5_000


class DeadAgents:
    """Counts dead attempts in a row, agent by agent."""

    def __init__(self) -> None:
        self._dead: defaultdict[str, int] = defaultdict(int)

    def note(self, row: AttemptRow) -> str | None:
        """Why the run should stop, or None."""
        if row.agent is None or row.void is not None:
            return None
        if not _is_dead(row):
            self._dead[row.agent] = 0
            return None
        self._dead[row.agent] += 1
        if self._dead[row.agent] < IN_A_ROW:
            return None
        self._dead[row.agent] = 0
        return (
            f"AGENT NOT WORKING: {row.agent} ended {IN_A_ROW} times in a row with exit {row.agent_exit}, no edit and "
            f"no usage; is it logged in? Read its agent.log, then `tui-bench resume`"
        )


def _is_dead(row: AttemptRow) -> bool:
    failed = row.agent_exit not in (None, 0) and not row.capped
    quick = row.phases_ms.agent is not None and row.phases_ms.agent < AT_ONCE_MS
    return failed and quick and row.patch_sha256 == "empty" and row.tokens_in is None and row.tokens_out is None
