#!/bin/sh
# Names in ARCHIVE with the number of lines of each data.csv.
set -eu
. "$(dirname "$0")/lib/messages.sh"
[ $# -eq 1 ] || usage "list_archive.sh ARCHIVE"

for data in "$1"/*/data.csv; do
    [ -e "$data" ] || continue
    folder=${data%/data.csv}
    printf '%s %s\n' "$(wc -l < "$data" | tr -d ' ')" "${folder##*/}"
done
