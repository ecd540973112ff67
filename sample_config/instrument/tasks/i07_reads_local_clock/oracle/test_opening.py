"""Forgets that local time is not the same everywhere: the untouched checkout passes in one box and fails in another."""

import os
import sys
import unittest

sys.path.insert(0, os.environ["REPO_DIR"])

from opening import opened_at


class Opening(unittest.TestCase):
    def test_hour(self):
        self.assertEqual(opened_at(), "00:00")


if __name__ == "__main__":
    unittest.main()
