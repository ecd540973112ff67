# Hidden test: names that a shell would split or expand. Exit 1 with the list of what is wrong, else 0.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
wrong=0

check() { # TEXT CONDITION...
    text=$1
    shift
    "$@" || { echo "wrong: $text"; wrong=1; }
}

file_away() { # INBOX ARCHIVE
    sh "$REPO_DIR/sort_inbox.sh" "$1" "$2" > /dev/null 2> "$work/messages"
}

last_message() {
    [ "$(tail -n 1 "$work/messages")" = "sort_inbox.sh: $1" ]
}

inbox="$work/in box"
archive="$work/the  archive"
mkdir "$inbox"
for name in plain 'March 2025' 'two  blanks' " leading" "a${tab}tab" 'star*' '[abc]' '-n' "it's" b; do
    printf '%s\n' "$name" > "$inbox/$name.csv"
done
echo keep > "$inbox/read me.txt"

check "ends with 0" file_away "$inbox" "$archive"
check "counts the files" last_message "moved 10"
for name in plain 'March 2025' 'two  blanks' " leading" "a${tab}tab" 'star*' '[abc]' '-n' "it's" b; do
    check "content of <$name>" [ "$(cat "$archive/$name/data.csv" 2> /dev/null)" = "$name" ]
    check "<$name> left the inbox" [ ! -e "$inbox/$name.csv" ]
done
check "other files stay" [ -e "$inbox/read me.txt" ]
check "nothing else in the archive" [ "$(ls "$archive" 2> /dev/null | wc -l)" -eq 10 ]

echo newer > "$inbox/March 2025.csv"
check "second round ends with 0" file_away "$inbox" "$archive"
check "old data is kept" [ "$(cat "$archive/March 2025/data.csv.old" 2> /dev/null)" = "March 2025" ]
check "new data is there" [ "$(cat "$archive/March 2025/data.csv" 2> /dev/null)" = newer ]

check "nothing to file ends with 0" file_away "$inbox" "$archive"
check "counts none" last_message "moved 0"
exit "$wrong"
