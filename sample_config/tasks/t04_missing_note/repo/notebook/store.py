"""Notes in memory."""

import itertools
import threading


class Store:
    """Numbered notes. Safe to use from several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._notes = {}

    def add(self, text):
        with self._lock:
            note = {"id": next(self._ids), "text": text}
            self._notes[note["id"]] = note
            return note

    def find(self, number):
        """The note, or None."""
        with self._lock:
            return self._notes.get(number)

    def remove(self, number):
        """Whether there was such a note."""
        with self._lock:
            return self._notes.pop(number, None) is not None

    def numbers(self):
        with self._lock:
            return sorted(self._notes)
