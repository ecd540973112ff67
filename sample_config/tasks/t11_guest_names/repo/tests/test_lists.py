"""Names in plain letters."""

import unittest

from guests.lists import BadEntry, join_lists, read_list


class Lists(unittest.TestCase):
    def test_case_and_blanks(self):
        joined = join_lists([read_list(["Ann  Lee, 2", "Bob"]), read_list(["ann lee"])])
        self.assertEqual([(guest.name, guest.seats) for guest in joined], [("Ann  Lee", 3), ("Bob", 1)])

    def test_bad_seats(self):
        with self.assertRaisesRegex(BadEntry, "line 2"):
            read_list(["Ann", "Bob, two"])


if __name__ == "__main__":
    unittest.main()
