"""Sending a batch."""

import time
from dataclasses import dataclass, field

from courier.pauses import pause_before


class TryLater(Exception):
    """The gateway is down for the time being."""


@dataclass
class Report:
    """What became of a batch. `tries` counts every knock at the gateway."""

    delivered: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    tries: int = 0


def send_all(parcels, send, retries, wait=time.sleep):
    """Sends every parcel with `send(parcel)`, which raises TryLater; `retries` repeats for the batch."""
    report = Report()
    for parcel in parcels:
        left = retries
        repeat = 0
        while True:
            report.tries += 1
            try:
                send(parcel)
            except TryLater:
                if left == 0:
                    report.failed.append(parcel)
                    break
                left -= 1
                repeat += 1
                wait(pause_before(repeat))
            else:
                report.delivered.append(parcel)
                break
    return report
