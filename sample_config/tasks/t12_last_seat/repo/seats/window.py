"""A window: serves requests until there are none."""

import queue

from seats.hall import Full, Taken

SUITS = {
    "any": lambda seat: True,
    "front": lambda seat: seat.startswith("A"),
}


def serve(hall, requests, sold):
    """Takes (guest, wish) from the queue `requests` and puts (guest, seat or None) on the queue `sold`."""
    while True:
        try:
            guest, wish = requests.get_nowait()
        except queue.Empty:
            return
        sold.put((guest, seat_for(hall, guest, wish)))


def seat_for(hall, guest, wish):
    """The seat a guest gets, or None."""
    try:
        if wish in SUITS:
            return hall.reserve_first(guest, SUITS[wish])
        hall.reserve(wish, guest)
    except (Full, Taken, KeyError):
        return None
    return wish
