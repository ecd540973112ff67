"""Command line: python3 -m waiter < EVENING."""

import sys
from pathlib import Path

from waiter.bill import bill, read_menu
from waiter.kitchen import slips
from waiter.orders import Order

MENU = Path(__file__).parents[1] / "menu.txt"


def main(lines):
    with open(MENU, encoding="utf-8") as menu_lines:
        menu = read_menu(menu_lines)
    orders = {}
    for line in lines:
        table, action, *rest = line.split(maxsplit=3)
        order = orders.setdefault(table, Order(table))
        if action == "add":
            order.add(rest[0])
        elif action == "note":
            order.note(*rest)
        else:
            print(f"table {table} pays {bill(order, menu)}")
            del orders[table]
    print("\n".join(slips(orders.values())))


if __name__ == "__main__":
    main(sys.stdin)
