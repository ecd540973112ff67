"""Discounts, and the order in which they are taken."""

from dataclasses import dataclass
from decimal import Decimal

STEPS = ("fixed", "percent")


@dataclass(frozen=True)
class Discount:
    """`kind` is one of STEPS; `size` is an amount or a rate."""

    kind: str
    size: Decimal

    def taken_from(self, price):
        """The price with this discount taken off."""
        if self.kind == "percent":
            return price * (100 - self.size) / 100
        return price - self.size


def discounted(price, discounts):
    """The price with all discounts taken off, step by step."""
    for step in STEPS:
        for discount in discounts:
            if discount.kind == step:
                price = discount.taken_from(price)
    return price
