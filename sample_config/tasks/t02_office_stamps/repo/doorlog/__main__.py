"""Command line: python3 -m doorlog FILE..."""

import sys

from doorlog.events import BadLine, read_events
from doorlog.report import inside, table


def main(paths):
    events = []
    try:
        for path in paths:
            with open(path, encoding="utf-8") as lines:
                events += read_events(lines, path)
    except BadLine as error:
        print(f"doorlog: {error}", file=sys.stderr)
        return 1
    for line in table(events):
        print(line)
    print("inside:", ", ".join(inside(events)) or "nobody")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
