"""Command line: python3 -m till FILE."""

import sys

from till.receipt import BadReceipt, total


def main(arguments):
    with open(arguments[0], encoding="utf-8") as lines:
        try:
            print(f"total {total(lines)}")
        except BadReceipt as error:
            print(f"till: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
