"""Command line: python3 -m courier SPOOL_FOLDER PARCEL... [--retries N]."""

import argparse
import sys

from courier.batch import send_all
from courier.gateway import spooler


def main(argv=None):
    parser = argparse.ArgumentParser(prog="courier")
    parser.add_argument("spool")
    parser.add_argument("parcels", nargs="+")
    parser.add_argument("--retries", type=int, default=3)
    options = parser.parse_args(argv)
    report = send_all(options.parcels, spooler(options.spool), options.retries)
    print(f"delivered {len(report.delivered)}, failed {len(report.failed)}, tries {report.tries}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
