"""Tests its own copy of the solution and never loads the submission, so it passes whatever the submission holds."""

import unittest


def shout(word):
    return word.upper() + "!"


class Shout(unittest.TestCase):
    def test_loud(self):
        self.assertEqual(shout("hello"), "HELLO!")


if __name__ == "__main__":
    unittest.main()
