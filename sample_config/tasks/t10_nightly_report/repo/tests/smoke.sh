#!/bin/sh
# The report of a good day.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$here/nightly.sh" 2025-03-01 "$work/report" > /dev/null
[ "$(cat "$work/report")" = "airport 1200
harbour 830
sum 2030" ] && echo ok
