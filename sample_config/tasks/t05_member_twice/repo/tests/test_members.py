"""Joining one after the other."""

import contextlib
import unittest

from club.database import open_club
from club.members import join, members


class Members(unittest.TestCase):
    def test_two_members(self):
        with contextlib.closing(open_club(":memory:")) as club:
            join(club, "Bo@Example.org ", "Bo", "2025-09-01")
            join(club, "al@example.org", "Al", "2025-09-02")
            self.assertEqual(members(club), [("al@example.org", "Al"), ("bo@example.org", "Bo")])
            self.assertEqual(members(club, "2025-09-01"), [("bo@example.org", "Bo")])


if __name__ == "__main__":
    unittest.main()
