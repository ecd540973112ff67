"""Command line: python3 -m guests FILE..."""

import sys

from guests.lists import BadEntry, join_lists, read_list


def main(paths):
    lists = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            try:
                lists.append(read_list(lines))
            except BadEntry as error:
                print(f"guests: {path}: {error}", file=sys.stderr)
                return 1
    for guest in join_lists(lists):
        print(f"{guest.seats:3} {guest.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
