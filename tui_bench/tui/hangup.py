"""Ends the application when its terminal is gone, whatever the event loop is doing.

A terminal that disappears without a signal leaves writes that never end: the loop waits in one of them and hears
nothing, no signal either, while the input thread reads an endless nothing. The kernel still tells who asks for it, so
a thread asks. The ledger is only read here and the runner is a process of its own: leaving at once loses nothing.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable

GRACE_S = 3.0
"""An application that heard the hangup itself is left this long to go in its own way."""


def watch_terminal(descriptor: int, leave: Callable[[int], None] = os._exit) -> threading.Event:
    """Call `leave(128 + SIGHUP)` when the terminal behind `descriptor` hangs up; set the event to stop watching."""
    over = threading.Event()
    threading.Thread(target=_watch, args=(descriptor, leave, over), name="hangup", daemon=True).start()
    return over


def _watch(descriptor: int, leave: Callable[[int], None], over: threading.Event) -> None:
    poll = select.poll()
    poll.register(descriptor, 0)  # hangup and error are always told; input is somebody else's
    while not over.is_set():
        if any(events & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, events in poll.poll(1000)):
            if not over.wait(GRACE_S):
                leave(128 + signal.SIGHUP)
            return
