"""Command line: python3 -m relay [SITE_FILE]."""

import json
import sys

from relay.settings import SettingsError, load


def main(arguments):
    try:
        settings = load(*arguments[:1])
    except SettingsError as error:
        print(f"relay: {error}", file=sys.stderr)
        return 1
    print(json.dumps(settings, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
