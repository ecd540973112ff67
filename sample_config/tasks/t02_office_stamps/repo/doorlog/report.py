"""The table, and who is still inside."""

from doorlog.stamps import utc_text


def table(events):
    """Lines of the table, earliest event first."""
    ordered = sorted(events, key=lambda event: event.seconds)
    width = max((len(event.office) for event in ordered), default=0)
    return [
        f"{utc_text(event.seconds)}  {event.office:<{width}}  {event.way:<3}  {event.badge}"
        for event in ordered
    ]


def inside(events):
    """Badges whose latest event is `in`, sorted."""
    latest = {}
    for event in sorted(events, key=lambda event: event.seconds):
        latest[event.badge] = event.way
    return sorted(badge for badge, way in latest.items() if way == "in")
