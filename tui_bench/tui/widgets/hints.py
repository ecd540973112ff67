"""The footer: keys that work where the focus is, cut from the least important when the line is too short."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.widgets import Static

from tui_bench.tui import keys
from tui_bench.tui.dispatch import press
from tui_bench.tui.keys import Key


class Hints(Static):
    """Hints from the key table; a click on one does what its key does."""

    def __init__(self, id: str | None = None, *, ascii_only: bool = False) -> None:
        super().__init__("", id=id, markup=False)
        self._ascii = ascii_only
        self._keys: tuple[Key, ...] = ()
        self._shown: list[tuple[Key, str]] = []
        self._dim: frozenset[str] = frozenset()

    def show(self, *scopes: keys.Scope, without: frozenset[str] = frozenset()) -> None:
        """Offer the keys of these scopes, those aside that do nothing now."""
        self._keys = tuple(key for key in keys.of(*scopes) if key.id not in without)
        self._draw()

    def dim(self, ids: frozenset[str]) -> None:
        """Draw these keys as ones that cannot be used now; pressed, they say why."""
        if ids != self._dim:
            self._dim = ids
            self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        self._shown = keys.footer(self._keys, self.size.width, self._ascii)
        parts = [
            Content.assemble(
                " ", (key.shown(self._ascii), "$bench-queued" if key.id in self._dim else "bold $accent"),
                " ", (key.short, "$bench-queued" if key.id in self._dim else "$bench-muted"), " ",
            )
            for key, _ in self._shown
        ]  # fmt: skip
        self.update(Content("").join(parts), layout=False)

    async def on_click(self, event: events.Click) -> None:
        at = 0
        for key, hint in self._shown:
            at += len(hint) + 2
            if event.x < at:
                await press(self.screen, key)
                return
