"""Moments: from the text of a stamp to seconds, and back to text in UTC."""

import calendar
from datetime import datetime, timezone

FORM = "%Y-%m-%dT%H:%M:%S"


def seconds_of(stamp):
    """Seconds from 1970-01-01 00:00:00 UTC to a stamp such as 2024-05-02T08:15:00+02:00."""
    moment = datetime.strptime(stamp[:19], FORM)
    return calendar.timegm(moment.timetuple())


def utc_text(seconds):
    """The moment as the table shows it: 2024-05-02 06:15:00."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
