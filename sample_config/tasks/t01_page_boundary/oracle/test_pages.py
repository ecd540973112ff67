"""Hidden test: number of pages at, below and above the boundary, and what the command prints there."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.environ["REPO_DIR"])

from stacks.__main__ import main
from stacks.paging import page, page_count


class Counts(unittest.TestCase):
    def test_every_length_up_to_four_pages(self):
        for size in (1, 2, 7, 10):
            for total in range(4 * size + 1):
                full, rest = divmod(total, size)
                with self.subTest(total=total, size=size):
                    self.assertEqual(page_count(total, size), full + (1 if rest else 0))

    def test_pages_hold_every_item_once(self):
        for total in (1, 9, 10, 11, 20):
            items = list(range(total))
            pages = [page(items, n, 10) for n in range(1, page_count(total, 10) + 1)]
            with self.subTest(total=total):
                self.assertEqual([item for shown in pages for item in shown.items], items)
                self.assertTrue(all(shown.items for shown in pages))

    def test_no_page_after_the_last(self):
        with self.assertRaises(IndexError):
            page(list(range(20)), 3, 10)
        with self.assertRaises(IndexError):
            page([], 1, 10)

    def test_senseless_size(self):
        with self.assertRaises(ValueError):
            page_count(3, 0)


class CommandLine(unittest.TestCase):
    def run_on(self, books, *options):
        out, err = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            shelf = Path(folder, "shelf.txt")
            shelf.write_text("".join(f"Volume {n}; A. Nonym; 19{n:02}\n" for n in range(books)))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main([str(shelf), *options])
        return code, out.getvalue().splitlines(), err.getvalue()

    def test_last_full_page(self):
        code, lines, _ = self.run_on(20, "--page", "2")
        self.assertEqual((code, lines[-1], len(lines)), (0, "page 2 of 2", 11))

    def test_page_after_a_full_one(self):
        code, lines, error = self.run_on(20, "--page", "3")
        self.assertEqual((code, lines), (1, []))
        self.assertTrue(error)

    def test_empty_shelf(self):
        self.assertEqual(self.run_on(0)[:2], (0, ["the shelf is empty"]))


if __name__ == "__main__":
    unittest.main()
