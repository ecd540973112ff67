"""One table alone."""

import unittest

from waiter.kitchen import slip
from waiter.orders import Order


class OneTable(unittest.TestCase):
    def test_slip(self):
        order = Order(7, ["fish"])
        order.note("fish", "no salt")
        self.assertEqual(slip(order), ["table 7", "  fish (no salt)"])

    def test_note_for_a_dish_nobody_ordered(self):
        with self.assertRaises(KeyError):
            Order(7, ["fish"]).note("soup", "hot")


if __name__ == "__main__":
    unittest.main()
