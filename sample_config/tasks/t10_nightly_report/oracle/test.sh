# Hidden test: good days, damaged days, missing days. Exit 1 with the list of what is wrong, else 0.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
wrong=0

check() { # TEXT CONDITION...
    text=$1
    shift
    "$@" || { echo "wrong: $text"; wrong=1; }
}

nightly() { # DAY REPORT
    sh "$REPO_DIR/nightly.sh" "$1" "$2" > "$work/said" 2>&1
}

fails() {
    ! "$@"
}

reports="$work/the reports"
mkdir "$reports"
good='airport 1200
harbour 830
sum 2030'

check "a good day ends with 0" nightly 2025-03-01 "$reports/first"
check "report of a good day" [ "$(cat "$reports/first" 2> /dev/null)" = "$good" ]
check "says that it was written" grep -q "report written: $reports/first" "$work/said"

for day in 2025-03-03 2025-03-04; do
    check "$day does not end with 0" fails nightly "$day" "$reports/$day"
    check "$day leaves no report" [ ! -e "$reports/$day" ]
    check "$day is not called written" fails grep -q written "$work/said"
    nightly "$day" "$reports/first"
    check "$day keeps the report that is there" [ "$(cat "$reports/first" 2> /dev/null)" = "$good" ]
done
check "the extractor's words are passed on" grep -q "no file for 2025-03-04" "$work/said"
check "nothing else is left among the reports" [ "$(ls -A "$reports")" = first ]

check "again a good day" nightly 2025-03-01 "$reports/second"
check "same report" [ "$(cat "$reports/second" 2> /dev/null)" = "$good" ]
exit "$wrong"
