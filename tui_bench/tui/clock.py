"""Times as a person reads them. The present comes in as seconds since the epoch, so nothing here looks at a clock."""

from __future__ import annotations

from datetime import UTC, datetime

LEAST_FINISHED = 5
"""Below this many finished attempts no remaining time is shown."""


def seconds_of(at: str) -> float | None:
    """A row's `at` as seconds since the epoch; None where it is no time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def seconds_since(at: str, now: float) -> float | None:
    """Seconds from a row's `at` to `now`, at least 0; None where it is no time."""
    then = seconds_of(at)
    return None if then is None else max(0.0, now - then)


def age(seconds: float) -> str:
    """`0:41`, `12:05`, `3:04:05`."""
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def short_age(seconds: float) -> str:
    """`0.4 s`, `12 s`, `5 min`, `3 h`, `2 d`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    for limit, unit, size in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if seconds < limit:
            return f"{int(seconds / size)} {unit}"
    return f"{int(seconds / 86_400)} d"


def remaining(walls_ms: list[int], left: int, jobs: int) -> tuple[float, float] | None:
    """Seconds that `left` attempts will take, from the quartiles of finished ones; None where too few are known."""
    if len(walls_ms) < LEAST_FINISHED or left <= 0:
        return None
    ordered = sorted(walls_ms)
    last = len(ordered) - 1
    low, high = ordered[last // 4], ordered[-(-3 * last // 4)]
    rounds = left / max(1, jobs) / 1000
    return low * rounds, high * rounds


def time_range(low: float, high: float) -> str:
    """`2–4 min`, `10–30 s`; one number where both ends read the same."""
    unit, size = ("s", 1) if high < 120 else ("min", 60) if high < 7200 else ("h", 3600)
    first, last = max(0, int(low / size)), max(1, -(-int(high * 10) // (size * 10)))
    return f"{last} {unit}" if first >= last else f"{first}–{last} {unit}"
