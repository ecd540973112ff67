"""What the screen asks of a runner. The commands bring an implementation; this room knows no socket and no engine."""

from __future__ import annotations

from typing import Any, Protocol


class RunnerLink(Protocol):
    """A line to the runner of one run."""

    @property
    def alive(self) -> bool:
        """Whether the runner process still exists."""

    async def request(self, do: str, arg: object = None) -> dict[str, Any]:
        """status | pause | resume | jobs | stop; answers {ok, id, state, running, queued, jobs, error}.

        Raises RunnerError when nobody answers or the runner refuses.
        """
