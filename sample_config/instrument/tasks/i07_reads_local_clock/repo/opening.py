"""When the archive was opened."""

import time

OPENED = 0


def opened_at():
    """Hour and minute of the opening, by the local clock."""
    return time.strftime("%H:%M", time.localtime(OPENED))
