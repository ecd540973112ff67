"""Command line: python3 -m club FILE join EMAIL NAME DAY | members [DAY]."""

import contextlib
import sys

from club.database import open_club
from club.members import AlreadyMember, join, members


def main(arguments):
    path, action, *values = arguments
    with contextlib.closing(open_club(path)) as club:
        if action == "join":
            try:
                print("member", join(club, *values))
            except AlreadyMember as error:
                print(f"club: {error}", file=sys.stderr)
                return 1
        else:
            for email, name in members(club, *values):
                print(f"{email}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
