"""The command palette: every key of the screen it was opened on, by its words, and the themes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui_bench.tui import keys, safe
from tui_bench.tui.dispatch import press
from tui_bench.tui.keys import Key


class KeyCommands(Provider):
    """Actions of the key table. Each stands with its key, so the palette teaches it."""

    def _keys(self) -> Iterable[Key]:
        """Keys of the screen, without moves and without the palette itself."""
        scopes = keys.SCREENS.get(getattr(self.screen, "HELP", "run"), ("app",))
        return (key for key in keys.of(*scopes) if key.id != "palette" and not key.id.startswith("move."))

    async def _press(self, key: Key) -> None:
        if not await press(self.screen, key):
            self.app.notify(safe.text(f"{key.shown(False)}: not in this pane; tab goes to another"), markup=False)

    async def discover(self) -> Hits:
        for key in self._keys():
            yield DiscoveryHit(_named(key), partial(self._press, key), text=_text(key), help=key.id)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for key in self._keys():
            score = matcher.match(_text(key))
            if score > 0:
                yield Hit(score, _named(key), partial(self._press, key), text=_text(key), help=key.id)


class ThemeCommands(Provider):
    """Themes by name, ours first."""

    def _themes(self) -> list[str]:
        return sorted(self.app.available_themes, key=lambda name: (not name.startswith("bench-"), name))

    def _use(self, name: str) -> None:
        self.app.theme = name

    async def discover(self) -> Hits:
        for name in self._themes():
            if name.startswith("bench-"):
                yield DiscoveryHit(Content(f"theme {name}"), partial(self._use, name), text=f"theme {name}")

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name in self._themes():
            score = matcher.match(f"theme {name}")
            if score > 0:
                yield Hit(score, Content(f"theme {name}"), partial(self._use, name), text=f"theme {name}")


def _text(key: Key) -> str:
    return f"{key.tooltip}  {key.shown(False)}"


def _named(key: Key) -> Content:
    return Content.assemble(key.tooltip, "  ", (key.shown(False), "bold"))
