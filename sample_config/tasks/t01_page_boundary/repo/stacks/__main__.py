"""Command line: python3 -m stacks FILE [--page N] [--size K]."""

import argparse
import sys

from stacks.books import read_shelf
from stacks.paging import page


def main(argv=None):
    parser = argparse.ArgumentParser(prog="stacks")
    parser.add_argument("file")
    parser.add_argument("--page", type=int, default=1)
    parser.add_argument("--size", type=int, default=10)
    options = parser.parse_args(argv)
    with open(options.file, encoding="utf-8") as lines:
        books = read_shelf(lines)
    if not books:
        print("the shelf is empty")
        return 0
    try:
        shown = page(books, options.page, options.size)
    except (IndexError, ValueError) as error:
        print(f"stacks: {error}", file=sys.stderr)
        return 1
    for book in shown.items:
        print(book.line())
    print(f"page {shown.number} of {shown.of}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
