"""Numbers as people may write them in study files, and the range each of them must lie in.

Plain decimal digits only: `1e3`, `010`, `0x10`, `1_000`, `inf` and `nan` are refused and never guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from tui_bench.study.reading import show

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?")
_RATIO = re.compile(r"(?:0|[1-9][0-9]{0,8})/[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends are allowed. `unit` is only shown."""

    low: float
    high: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{_digits(self.low)} to {_digits(self.high)}{' ' + self.unit if self.unit else ''}"

    def integer(self, text: str) -> int:
        """A whole number; raises ValueError with a sentence that names the range."""
        if not _INTEGER.fullmatch(text):
            raise ValueError(self._refusal(text, "a whole number in plain digits"))
        self._check(int(text), text)
        return int(text)

    def number(self, text: str) -> float:
        """A decimal number; raises ValueError with a sentence that names the range."""
        if not _NUMBER.fullmatch(text):
            raise ValueError(self._refusal(text, "a number in plain digits"))
        self._check(float(text), text)
        return float(text)

    def rate(self, text: str) -> Fraction:
        """An exact share, as a decimal number or as `1/10`; raises ValueError like `number`."""
        if not (_NUMBER.fullmatch(text) or _RATIO.fullmatch(text)):
            raise ValueError(self._refusal(text, "a share such as 0.10 or 1/10"))
        rate = Fraction(text)
        if not self.low <= rate <= self.high:
            raise ValueError(f"{text} is out of range; allowed: {self} (ten per cent is 0.10)")
        return rate

    def _check(self, value: float, text: str) -> None:
        if not self.low <= value <= self.high:
            raise ValueError(f"{text} is out of range; allowed: {self}")

    def _refusal(self, text: str, wanted: str) -> str:
        what = "is empty" if not text else f"{show(text)} is not {wanted}"
        return f"{what}; allowed: {self}"


def _digits(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


SECONDS = Range(0.1, 604800, "seconds")
JOBS = Range(1, 1000)
ATTEMPTS = Range(1, 1000)
REPLAYS = Range(0, 100)
RETRIES = Range(0, 100)
TOKENS = Range(1, 10**12, "tokens")
SEED = Range(-(2**62), 2**62)
CPUS = Range(0.1, 4096, "CPUs")
MEMORY_MB = Range(16, 2**24, "MB")
SLOTS = Range(1, 1000)
EXIT_CODES = Range(1, 255)
TESTS = Range(1, 10**6, "tests")
FLOOR_RUNS = Range(0, 10**6)
DRIFT = Range(0, 10**6, "cells")
RATE = Range(0, 1)
