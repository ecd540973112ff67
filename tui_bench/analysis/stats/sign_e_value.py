"""Evidence that may be looked at after every pair: the sign e-value of wins against losses.

With a uniform prior on the share of wins among m = wins + losses discordant pairs the Bayes factor against 1/2 is

    E = 2^m wins! losses! / (m + 1)!

a martingale of mean 1 when neither side is better, so that P(E ever >= 20) <= 1/20 (Ville 1939). Exact fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction

STOP_AT = 20


def sign_e_value(wins: int, losses: int) -> Fraction:
    """E of `wins` against `losses`, symmetric in both; 1 without a discordant pair. ValueError for negative counts."""
    if wins < 0 or losses < 0:
        raise ValueError(f"counts of discordant pairs are not negative: {wins}, {losses}")
    pairs = wins + losses
    return Fraction(2**pairs, (pairs + 1) * math.comb(pairs, wins))


def wins_to_stop(losses: int, stop_at: int = STOP_AT) -> int:
    """Fewest wins against `losses` with E >= `stop_at`. Raises ValueError for negative losses and `stop_at` < 1."""
    _check(stop_at)
    wins, value = losses, sign_e_value(losses, losses)
    while value < stop_at:
        wins += 1
        value *= Fraction(2 * wins, wins + losses + 1)
    return wins


def wins_to_stop_of(pairs: int, stop_at: int = STOP_AT) -> int | None:
    """Fewest wins of `pairs` discordant pairs with E >= `stop_at`; None where not even all of them suffice.

    Raises ValueError for negative `pairs` and `stop_at` < 1.
    """
    _check(stop_at)
    if sign_e_value(pairs, 0) < stop_at:
        return None
    low, high = (pairs + 1) // 2, pairs
    while low < high:
        middle = (low + high) // 2
        if sign_e_value(middle, pairs - middle) >= stop_at:
            high = middle
        else:
            low = middle + 1
    return low


def false_stop_probability(pairs: int, stop_at: int = STOP_AT) -> Fraction:
    """P(E reaches `stop_at` within `pairs` discordant pairs) where either side wins with 1/2: exact, by path counting.

    O(pairs^2). Raises ValueError for negative `pairs` and `stop_at` < 1.
    """
    _check(stop_at)
    if pairs < 0:
        raise ValueError(f"a count of pairs is not negative: {pairs}")
    running, stopped = {0: 1}, 0
    for done in range(pairs + 1):
        limit = wins_to_stop_of(done, stop_at)
        still = {wins: ways for wins, ways in running.items() if limit is None or done - limit < wins < limit}
        stopped += (sum(running.values()) - sum(still.values())) << (pairs - done)
        running = {
            wins: still.get(wins, 0) + still.get(wins - 1, 0)
            for wins in range(done + 2)
            if wins in still or wins - 1 in still
        }
    return Fraction(stopped, 2**pairs)


def _check(stop_at: int) -> None:
    if stop_at < 1:
        raise ValueError(f"an e-value to stop at is at least 1, not {stop_at}")
