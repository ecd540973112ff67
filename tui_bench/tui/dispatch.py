"""Doing what a key does without the key: for clicks on hints and for the command palette."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from tui_bench.tui.keys import Key


async def press(screen: Screen[Any], key: Key) -> bool:
    """Run a key's action where the key would find it: the focused widget, what it lies in, the screen, the app.

    False where nobody on this screen has the action.
    """
    if key.action.startswith("app."):
        return await screen.app.run_action(key.action, default_namespace=screen.app)
    name = f"action_{key.action.split('(')[0]}"
    focused = screen.focused
    for owner in (*(focused.ancestors_with_self if focused is not None else ()), screen):
        if hasattr(owner, name):
            return await screen.app.run_action(key.action, default_namespace=owner)
    return False
