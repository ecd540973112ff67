# Messages of all scripts here. Source it: . lib/messages.sh

say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

usage() {
    say "usage: $*"
    exit 2
}
