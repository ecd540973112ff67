"""Regularised incomplete beta function and its quantile: the ground of every binomial tail here.

Sources: continued fraction DLMF 8.17.22, evaluated by the modified Lentz method (Thompson and Barnett 1986);
symmetry DLMF 8.17.4.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_PRECISION = 1e-16
_ROUNDS = 10_000


def beta_cdf(x: float, a: float, b: float) -> float:
    """I_x(a, b), the probability that a Beta(a, b) variable is at most `x`.

    `a` and `b` positive, `x` in [0, 1]. Raises ValueError otherwise.
    """
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        raise ValueError(f"beta_cdf needs a, b > 0 and 0 <= x <= 1, not x={x}, a={a}, b={b}")
    if x in (0.0, 1.0):
        return x
    log_front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, math.exp(log_front) * _fraction(x, a, b) / a)
    return max(0.0, 1.0 - math.exp(log_front) * _fraction(1 - x, b, a) / b)


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """The `x` in [0, 1] with I_x(a, b) = `p`, by bisection down to neighbouring floats.

    Raises ValueError for `p` outside [0, 1] and for a, b not positive.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a probability lies in [0, 1], not {p}")
    if p in (0.0, 1.0):
        return p
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle
        if high - low < 1e-17:
            return (low + high) / 2


def _fraction(x: float, a: float, b: float) -> float:
    c = 1.0
    d = 1 / _apart_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _ROUNDS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _apart_from_zero(1 + term * d)
            c = _apart_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            return value
    raise ArithmeticError(f"incomplete beta did not converge for x={x}, a={a}, b={b}")


def _apart_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
