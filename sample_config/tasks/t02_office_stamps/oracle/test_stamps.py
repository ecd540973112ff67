"""Hidden test: stamps of several offices as absolute moments, and the table made of them."""

import contextlib
import io
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.environ["REPO_DIR"])

from doorlog.__main__ import main
from doorlog.events import read_events
from doorlog.report import inside
from doorlog.stamps import seconds_of, utc_text

HOUR = 3600
EIGHT_ON_THE_SECOND_OF_MAY = 1714636800  # 2024-05-02 08:00:00 UTC


class Stamps(unittest.TestCase):
    def test_offsets_east_west_and_none(self):
        for offset, hours in (("Z", 0), ("+00:00", 0), ("+02:00", 2), ("-03:00", -3), ("+05:30", 5.5), ("-09:30", -9.5)):
            with self.subTest(offset=offset):
                stamp = "2024-05-02T08:00:00" + offset
                self.assertEqual(seconds_of(stamp), EIGHT_ON_THE_SECOND_OF_MAY - hours * HOUR)

    def test_one_moment_written_three_ways(self):
        stamps = ("2023-12-31T23:30:00-01:00", "2024-01-01T00:30:00Z", "2024-01-01T06:00:00+05:30")
        self.assertEqual({seconds_of(stamp) for stamp in stamps}, {1704069000})

    def test_summer_and_winter(self):
        self.assertEqual(seconds_of("2024-07-01T12:00:00+00:00"), 1719835200)
        self.assertEqual(seconds_of("2024-01-01T12:00:00+00:00"), 1704110400)

    def test_back_to_text(self):
        self.assertEqual(utc_text(seconds_of("2024-03-01T01:15:00+03:00")), "2024-02-29 22:15:00")


class Table(unittest.TestCase):
    def test_two_offices(self):
        out = io.StringIO()
        log = Path(os.environ["REPO_DIR"], "data", "two_offices.log")
        with contextlib.redirect_stdout(out):
            self.assertEqual(main([str(log)]), 0)
        self.assertEqual(out.getvalue().splitlines(), [
            "2024-05-02 04:10:00  mumbai  in   badge-44",
            "2024-05-02 07:15:00  lisbon  in   badge-17",
            "2024-05-02 11:02:30  lisbon  out  badge-17",
            "2024-05-02 12:00:00  mumbai  out  badge-44",
            "inside: nobody",
        ])

    def test_last_event_decides_who_is_inside(self):
        events = read_events(["2024-05-02T10:00:00+05:30 mumbai in badge-9", "2024-05-02T07:00:00+01:00 lisbon out badge-9"])
        self.assertEqual(inside(events), [])


if __name__ == "__main__":
    unittest.main()
