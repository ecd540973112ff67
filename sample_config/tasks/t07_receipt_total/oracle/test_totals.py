"""Hidden test: order of discounts, one rounding at the end, half a cent up."""

import os
import sys
import unittest
from decimal import Decimal

sys.path.insert(0, os.environ["REPO_DIR"])

from till.receipt import BadReceipt, total


class Totals(unittest.TestCase):
    def pays(self, expected, *lines):
        self.assertEqual(str(total(lines)), expected)

    def test_percent_before_fixed(self):
        self.pays("4.00", "item 10.00 lamp", "percent 10", "fixed 5.00")
        self.pays("4.00", "fixed 5.00", "item 10.00 lamp", "percent 10")

    def test_several_of_a_kind(self):
        self.pays("69.00", "item 100.00 desk", "fixed 1", "percent 10", "fixed 2", "percent 20")

    def test_half_a_cent_goes_up(self):
        for price, percent, paid in (("0.25", 50, "0.13"), ("2.05", 50, "1.03"), ("1.15", 50, "0.58"), ("0.50", 1, "0.50")):
            with self.subTest(price=price, percent=percent):
                self.pays(paid, f"item {price} pin", f"percent {percent}")

    def test_less_and_more_than_half_a_cent(self):
        self.pays("0.33", "item 0.50 pin", "percent 34")
        self.pays("1.12", "item 1.249 wire", "percent 10")
        self.pays("1.13", "item 1.2511 wire", "percent 10")

    def test_rounded_once(self):
        self.pays("0.40", "item 0.99 pin", "percent 50", "fixed 0.099")

    def test_never_below_zero_and_bad_lines(self):
        self.pays("0.00", "item 4.00 pen", "percent 50", "fixed 2.004")
        with self.assertRaises(BadReceipt):
            total(["item 4.00"])


if __name__ == "__main__":
    unittest.main()
