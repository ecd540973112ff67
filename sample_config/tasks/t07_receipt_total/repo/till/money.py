"""Amounts of money."""

from decimal import Decimal

CENT = Decimal("0.01")


def to_cents(amount):
    """The amount as it is paid: whole cents, never below zero."""
    return max(amount, Decimal(0)).quantize(CENT)
