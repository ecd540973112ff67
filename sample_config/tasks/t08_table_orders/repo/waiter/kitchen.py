"""Slips for the kitchen."""


def slip(order):
    """Lines of a slip: the table, then each dish with its note."""
    lines = [f"table {order.table}"]
    for dish in order.dishes:
        note = order.notes.get(dish)
        lines.append(f"  {dish} ({note})" if note else f"  {dish}")
    return lines


def slips(orders, done=[]):
    """Slips of all orders that have dishes, after the lines that are `done`."""
    for order in orders:
        if order.dishes:
            done += slip(order)
    return done
