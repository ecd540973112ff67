"""Bills."""

from decimal import Decimal


def read_menu(lines):
    """Price by dish, from lines such as `soup 4.50`."""
    return {dish: Decimal(price) for dish, price in (line.split() for line in lines)}


def bill(order, menu):
    """What the table pays."""
    return sum((menu[dish] for dish in order.dishes), Decimal(0))
