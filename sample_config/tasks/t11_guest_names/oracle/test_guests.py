"""Hidden test: spellings of one name, and names that must stay apart. Names are written as escapes on purpose."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["REPO_DIR"])

from guests.keys import name_key
from guests.lists import join_lists, read_list


class Names(unittest.TestCase):
    def one(self, *names):
        self.assertEqual(len({name_key(name) for name in names}), 1, names)

    def apart(self, *names):
        self.assertEqual(len({name_key(name) for name in names}), len(names), names)

    def test_composed_and_combining(self):
        self.one("Zo\u00eb", "Zoe\u0308", "ZO\u00cb", "ZOE\u0308")
        self.one("\u00c5sa", "A\u030asa", "\u212bsa")
        self.one("Nguy\u1ec5n", "Nguye\u0302\u0303n")

    def test_letters_that_change_length(self):
        self.one("Stra\u00dfer", "STRASSER", "strasser", "STRA\u1e9eER")
        self.one("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3")

    def test_blanks(self):
        self.one("Ann Lee", "Ann\u00a0Lee", " ann   LEE ", "Ann\u2009Lee")

    def test_accents_and_letters_matter(self):
        self.apart("Zoe", "Zo\u00eb", "Zo\u00e9")
        self.apart("Ann Lee", "Annlee", "Anna Lee")

    def test_joined_list(self):
        shops = [["Zo\u00eb, 2", "Kim"], ["ZOE\u0308", "Stra\u00dfer"], ["STRASSER, 3", "Zoe"]]
        joined = join_lists([read_list(shop) for shop in shops])
        self.assertEqual(
            sorted((guest.name, guest.seats) for guest in joined),
            sorted([("Zo\u00eb", 3), ("Kim", 1), ("Stra\u00dfer", 4), ("Zoe", 1)]),
        )

    def test_key_of_a_key(self):
        for name in ("Zoe\u0308", "Stra\u00dfer", "  A\u030asa  B "):
            self.assertEqual(name_key(name_key(name)), name_key(name))


if __name__ == "__main__":
    unittest.main()
