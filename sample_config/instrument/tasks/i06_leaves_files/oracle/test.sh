# Right about the submission, but leaves files behind, one in the tree and one in the folder for temporary files.
python3 -B "$REPO_DIR/shout.py" hello > "$REPO_DIR/result.txt"
cp "$REPO_DIR/result.txt" "${TMPDIR:-/tmp}/shout-result.txt"
grep -qx 'HELLO!' "$REPO_DIR/result.txt" || exit 1
