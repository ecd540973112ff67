"""Receipts with at most one discount."""

import unittest
from decimal import Decimal

from till.receipt import BadReceipt, total


class Receipts(unittest.TestCase):
    def test_items_only(self):
        self.assertEqual(total(["item 2.50 bread", "", "# note", "item 1.25 milk"]), Decimal("3.75"))

    def test_one_percent_discount(self):
        self.assertEqual(total(["item 20.00 lamp", "percent 15"]), Decimal("17.00"))

    def test_voucher_above_the_price(self):
        self.assertEqual(total(["item 3.00 pen", "fixed 5"]), Decimal("0.00"))

    def test_bad_line(self):
        with self.assertRaisesRegex(BadReceipt, "line 2"):
            total(["item 3.00 pen", "coupon 5"])


if __name__ == "__main__":
    unittest.main()
