#!/bin/sh
# Files every CSV of INBOX away in ARCHIVE.
set -eu
. "$(dirname "$0")/lib/messages.sh"
[ $# -eq 2 ] || usage "sort_inbox.sh INBOX ARCHIVE"

inbox=$1
archive=$2
moved=0

mkdir -p "$archive"
for path in $(ls $inbox/*.csv 2>/dev/null); do
    name=$(basename $path .csv)
    say "filing $name"
    mkdir -p $archive/$name
    if [ -e $archive/$name/data.csv ]; then
        mv $archive/$name/data.csv $archive/$name/data.csv.old
    fi
    mv $path $archive/$name/data.csv
    moved=$((moved + 1))
done
say "moved $moved"
