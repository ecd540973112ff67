"""Who sits where."""

import threading


class Taken(Exception):
    """The seat belongs to somebody else."""


class Full(Exception):
    """No free seat suits."""


class Hall:
    """Seats in the order in which they are offered."""

    def __init__(self, seats):
        self._lock = threading.Lock()
        self._guest = dict.fromkeys(seats)

    def reserve(self, seat, guest):
        """Gives a seat by name to a guest. Raises KeyError for no such seat, Taken."""
        with self._lock:
            if self._guest[seat] is not None:
                raise Taken(seat)
            self._guest[seat] = guest

    def reserve_first(self, guest, suits):
        """Gives the first free seat with `suits(seat)` to a guest and returns it. Raises Full."""
        for seat, owner in self._guest.items():
            if owner is None and suits(seat):
                self._guest[seat] = guest
                return seat
        raise Full(guest)

    def release(self, seat):
        """Takes the seat back."""
        with self._lock:
            self._guest[seat] = None

    def free(self):
        """Free seats, in order."""
        with self._lock:
            return [seat for seat, guest in self._guest.items() if guest is None]
