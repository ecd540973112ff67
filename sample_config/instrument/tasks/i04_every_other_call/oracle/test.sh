# Flaky: of two calls in one attempt the first fails and the second passes, whatever the submission holds. The mark lies
# beside the trees of the attempt, in the folder that is named by its id.
folder=$REPO_DIR
while [ "$folder" != / ]; do
    case ${folder##*/} in
        *[!0-9a-f]*) ;;
        ????????????????) break ;;
    esac
    folder=$(dirname "$folder")
done
[ "$folder" != / ] || folder=$(dirname "$REPO_DIR")
if [ -e "$folder/called" ]; then
    rm "$folder/called"
else
    : > "$folder/called"
    echo "fails this time"
    exit 1
fi
