"""Reading lists and joining them."""

from dataclasses import dataclass

from guests.keys import name_key


@dataclass
class Guest:
    name: str
    seats: int


class BadEntry(ValueError):
    """A line without a name, or with seats that are not a number."""


def read_list(lines):
    """Guests of one list in its own order. Raises BadEntry."""
    guests = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, _, seats = line.strip().partition(",")
        try:
            guests.append(Guest(name.strip(), int(seats or 1)))
        except ValueError:
            raise BadEntry(f"line {number}: {line.strip()}") from None
        if not guests[-1].name:
            raise BadEntry(f"line {number}: no name")
    return guests


def join_lists(lists):
    """One list: the first spelling of each name, seats added up, sorted by key."""
    joined = {}
    for guests in lists:
        for guest in guests:
            known = joined.setdefault(name_key(guest.name), Guest(guest.name, 0))
            known.seats += guest.seats
    return [joined[key] for key in sorted(joined)]
