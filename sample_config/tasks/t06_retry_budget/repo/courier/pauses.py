"""How long to wait before a repeat."""

LONGEST = 8


def pause_before(repeat):
    """Seconds before the repeat with this number (from 1) of one parcel."""
    return min(2 ** (repeat - 1), LONGEST)
