#!/bin/sh
# One plain name. Run it anywhere: sh tests/smoke.sh
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in"
printf 'a,b\n1,2\n' > "$work/in/april.csv"
sh "$here/sort_inbox.sh" "$work/in" "$work/out" 2> /dev/null
[ "$(sh "$here/list_archive.sh" "$work/out")" = "2 april" ] && echo ok
