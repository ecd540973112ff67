#!/bin/sh
# Cents by shop and their sum, from `SHOP CENTS` lines sorted by shop.
set -eu
shop=
cents=0
sum=0
while read -r name amount; do
    if [ "$name" != "$shop" ]; then
        [ -z "$shop" ] || echo "$shop $cents"
        shop=$name
        cents=0
    fi
    cents=$((cents + amount))
    sum=$((sum + amount))
done
[ -z "$shop" ] || echo "$shop $cents"
echo "sum $sum"
