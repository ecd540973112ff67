"""Hidden test: one member an email, whoever writes the row; many members a day and a name."""

import contextlib
import io
import os
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.environ["REPO_DIR"])

from club.__main__ import main
from club.database import open_club
from club.members import AlreadyMember, join, members


class Club(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name, "club.db"))

    def open(self):
        return contextlib.closing(open_club(self.path))

    def test_second_join_is_refused(self):
        with self.open() as club:
            join(club, "ada@example.org", "Ada", "2025-09-01")
            with self.assertRaises(AlreadyMember):
                join(club, " ADA@example.org", "Ada L.", "2025-09-02")
            self.assertEqual(members(club), [("ada@example.org", "Ada")])

    def test_the_database_refuses_rows_of_other_programs(self):
        with self.open() as club, self.open() as other:
            join(club, "ada@example.org", "Ada", "2025-09-01")
            with self.assertRaises(sqlite3.IntegrityError):
                other.execute("INSERT INTO member (email, name, joined) VALUES ('ada@example.org', 'A', 'today')")

    def test_same_day_and_same_name(self):
        with self.open() as club:
            for email in ("a@example.org", "b@example.org", "c@example.org"):
                join(club, email, "Kim", "2025-09-01")
            self.assertEqual(len(members(club, "2025-09-01")), 3)

    def test_schema_may_be_applied_again(self):
        for email in ("a@example.org", "b@example.org"):
            with self.open() as club:
                join(club, email, "Kim", "2025-09-01")
        with self.open() as club:
            self.assertEqual(len(members(club)), 2)

    def test_command(self):
        codes = []
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as error:
            for day in ("2025-09-01", "2025-09-02"):
                codes.append(main([self.path, "join", "ada@example.org", "Ada", day]))
        self.assertEqual(codes, [0, 1])
        self.assertEqual(len(error.getvalue().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
