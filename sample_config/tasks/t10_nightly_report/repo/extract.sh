#!/bin/sh
# Sales of DAY as `SHOP CENTS` lines. Ends with 3 when the file of the day is missing or was cut off.
file=$(dirname "$0")/days/$1.txt
if [ ! -r "$file" ]; then
    echo "extract.sh: no file for $1" >&2
    exit 3
fi
whole=no
while read -r kind shop cents; do
    case $kind in
        sale) echo "$shop $cents" ;;
        end) whole=yes ;;
    esac
done < "$file"
if [ "$whole" = no ]; then
    echo "extract.sh: the file for $1 was cut off" >&2
    exit 3
fi
