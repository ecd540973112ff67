"""Hidden test: orders and slips do not know of each other."""

import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.environ["REPO_DIR"])

from waiter.__main__ import main
from waiter.kitchen import slips
from waiter.orders import Order


class Evening(unittest.TestCase):
    def test_second_table_starts_empty(self):
        first, second = Order(2), Order(5)
        first.add("soup")
        self.assertEqual((first.dishes, second.dishes, Order(9).dishes), (["soup"], [], []))

    def test_notes_stay_at_their_table(self):
        first, second = Order(2, ["soup"]), Order(5, ["soup"])
        first.note("soup", "hot")
        self.assertEqual((first.notes, second.notes), ({"soup": "hot"}, {}))

    def test_given_dishes_and_notes_are_used(self):
        order = Order(3, ["fish"], {"fish": "no salt"})
        order.add("coffee")
        self.assertEqual((order.dishes, order.notes), (["fish", "coffee"], {"fish": "no salt"}))
        self.assertEqual(Order(4, notes={"soup": "hot"}).dishes, [])

    def test_slips_are_printed_once(self):
        for _ in range(2):
            self.assertEqual(slips([Order(2, ["soup"]), Order(5)]), ["table 2", "  soup"])

    def test_slips_after_lines_that_are_done(self):
        self.assertEqual(slips([Order(2, ["soup"])], ["table 1", "  fish"]), ["table 1", "  fish", "table 2", "  soup"])

    def test_evening(self):
        out = io.StringIO()
        evening = ["2 add soup", "5 add pasta", "5 note pasta no cheese", "2 add coffee", "2 pay", "5 add fish"]
        with contextlib.redirect_stdout(out):
            main(evening)
        self.assertEqual(out.getvalue().splitlines(), ["table 2 pays 6.70", "table 5", "  pasta (no cheese)", "  fish"])


if __name__ == "__main__":
    unittest.main()
