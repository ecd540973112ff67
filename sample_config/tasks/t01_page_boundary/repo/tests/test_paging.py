"""Pages of a shelf that does not come out even."""

import unittest

from stacks.paging import page, page_count


class Paging(unittest.TestCase):
    def test_a_short_last_page(self):
        self.assertEqual(page_count(23, 10), 3)
        self.assertEqual(page(list("abcde"), 2, 3).items, ("d", "e"))

    def test_a_page_beyond_the_last(self):
        with self.assertRaises(IndexError):
            page(list("abcde"), 9, 3)

    def test_a_size_of_zero(self):
        with self.assertRaises(ValueError):
            page_count(5, 0)


if __name__ == "__main__":
    unittest.main()
