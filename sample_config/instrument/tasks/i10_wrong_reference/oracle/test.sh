# Asks for another thing than the prompt, so even the reference patch fails.
[ "$(python3 -B "$REPO_DIR/shout.py" hello)" = "HELLO!!" ] || exit 1
