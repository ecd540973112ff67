"""The command palette: every key of the screen it was opened on, by its words, and the themes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.types import IgnoreReturnCallbackType

from tui_bench.tui import keys, safe
from tui_bench.tui.dispatch import press
from tui_bench.tui.keys import Key

Command = tuple[Content, str, IgnoreReturnCallbackType]
"""What is shown, what is searched, what is done."""


class Commands(Provider):
    """Actions of the key table, each with its key, so the palette teaches it; then themes, ours first."""

    async def discover(self) -> Hits:
        for shown, said, act in (*self._actions(), *self._themes(ours=True)):
            yield DiscoveryHit(shown, act, text=said)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for shown, said, act in (*self._actions(), *self._themes(ours=False)):
            score = matcher.match(said)
            if score > 0:
                yield Hit(score, shown, act, text=said)

    def _actions(self) -> Iterable[Command]:
        """Keys of the screen, without moves and without the palette itself."""
        scopes = keys.SCREENS.get(getattr(self.screen, "HELP_OF", "run"), ("app",))
        for key in keys.of(*scopes):
            if key.id != "palette" and not key.id.startswith("move."):
                label = key.shown(self.app.has_class("-ascii"))
                shown = Content.assemble((f"{key.short:<9}", "bold"), f" {key.tooltip}  ", (label, "$accent"))
                yield shown, f"{key.short} {key.tooltip} {label}", partial(self._press, key)

    def _themes(self, *, ours: bool) -> Iterable[Command]:
        for name in sorted(self.app.available_themes, key=lambda name: (not name.startswith("bench-"), name)):
            if name.startswith("bench-") or not ours:
                shown = Content.assemble((f"{'theme':<9}", "bold"), f" {safe.text(name)}")
                yield shown, f"theme {name}", partial(self._use, name)

    async def _press(self, key: Key) -> None:
        if not await press(self.screen, key):
            self.app.notify(safe.text(f"{key.shown(False)}: not in this pane; tab goes to another"), markup=False)

    def _use(self, name: str) -> None:
        self.app.theme = name
