# Passes untouched: there is nothing to solve.
[ "$(python3 -B "$REPO_DIR/shout.py" hello)" = "HELLO!" ] || exit 1
