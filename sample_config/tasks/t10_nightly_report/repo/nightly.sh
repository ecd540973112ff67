#!/bin/sh
# Report of DAY, written to REPORT.
set -eu
here=$(dirname "$0")
day=$1
report=$2

sh "$here/extract.sh" "$day" | sort | sh "$here/summarise.sh" > "$report"
echo "report written: $report"
