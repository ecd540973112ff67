"""Questions that the relay asks of its settings."""


def may_send(settings, sent_this_minute):
    """Whether one more message fits into this minute."""
    limit = settings["queue"]["per_minute"]
    return limit is None or sent_this_minute < limit


def fits(settings, size):
    """Whether a message of `size` bytes is accepted."""
    limit = settings["sender"]["max_bytes"]
    return limit is None or size <= limit
