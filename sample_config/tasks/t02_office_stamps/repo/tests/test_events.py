"""Reading and ordering events of one office that keeps UTC."""

import unittest

from doorlog.events import BadLine, read_events
from doorlog.report import inside, table

LOG = [
    "2024-01-09T10:00:00Z reykjavik out badge-2",
    "2024-01-09T08:00:00Z reykjavik in badge-2",
    "2024-01-09T09:00:00Z reykjavik in badge-3",
]


class Events(unittest.TestCase):
    def test_earliest_first(self):
        self.assertEqual(table(read_events(LOG))[0], "2024-01-09 08:00:00  reykjavik  in   badge-2")

    def test_who_is_inside(self):
        self.assertEqual(inside(read_events(LOG)), ["badge-3"])

    def test_a_bad_line_is_named(self):
        with self.assertRaisesRegex(BadLine, "log:2"):
            read_events([LOG[0], "2024-01-09T08:00:00Z nowhere sideways"])


if __name__ == "__main__":
    unittest.main()
