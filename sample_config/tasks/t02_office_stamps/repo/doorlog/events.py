"""Lines of a door log."""

from dataclasses import dataclass

from doorlog.stamps import seconds_of


class BadLine(ValueError):
    """A line that is not an event; says which one."""


@dataclass(frozen=True)
class Event:
    seconds: int
    office: str
    way: str
    badge: str


def read_events(lines, name="log"):
    """Events of a log in its own order. Raises BadLine."""
    events = []
    for number, line in enumerate(lines, 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 4 or parts[2] not in ("in", "out"):
            raise BadLine(f"{name}:{number}: not an event: {line.strip()}")
        stamp, office, way, badge = parts
        events.append(Event(seconds_of(stamp), office, way, badge))
    return events
