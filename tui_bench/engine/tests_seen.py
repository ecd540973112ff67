"""How many passed tests a verify's output reports, for tasks that demand a number (`expect: {tests: N}`).

A test process that ends early with status 0 prints no summary: the number is what tells it from a pass. Only unittest
and pytest summaries are known; None where neither is found in the output's tail.
"""

from __future__ import annotations

import re

UNITTEST = re.compile(rb"^Ran (\d+) tests? in ", re.MULTILINE)
UNITTEST_SKIPPED = re.compile(rb"^OK \(.*skipped=(\d+)", re.MULTILINE)
PYTEST = re.compile(rb"(\d+) passed[^\n]* in [\d.]+s")


def tests_seen(stdout_tail: bytes, stderr_tail: bytes) -> int | None:
    """Passed tests by the last summary in the tails (each at most a few KB)."""
    for tail in (stderr_tail, stdout_tail):
        ran = UNITTEST.findall(tail)
        if ran:
            skipped = UNITTEST_SKIPPED.findall(tail)
            return int(ran[-1]) - (int(skipped[-1]) if skipped else 0)
        passed = PYTEST.findall(tail)
        if passed:
            return int(passed[-1])
    return None
