"""Reading a receipt and adding it up."""

from decimal import Decimal

from till.discounts import Discount, discounted
from till.money import to_cents


class BadReceipt(ValueError):
    """A line that is none of the three kinds of entry."""


def total(lines):
    """What the customer pays. Raises BadReceipt."""
    price = Decimal(0)
    discounts = []
    for number, line in enumerate(lines, 1):
        kind, *rest = line.split(maxsplit=2) or ["#"]
        if kind.startswith("#"):
            continue
        if kind == "item" and len(rest) == 2:
            price += Decimal(rest[0])
        elif kind in ("percent", "fixed") and rest:
            discounts.append(Discount(kind, Decimal(rest[0])))
        else:
            raise BadReceipt(f"line {number}: {line.strip()}")
    return to_cents(discounted(price, discounts))
