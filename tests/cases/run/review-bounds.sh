#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a session of review can make the supervisor read when the session has ended: paths that no
# path can name, and a journal without an end.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"

project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/run/lib/review-bounds.py" bounds.py

echo "--- files that lie deeper than a path can name are counted"
expect 0 "$WARDFS" run --review -s flat -- python3 bounds.py deep 10 100
hasnt "$ERR" "too deep"
expect 0 "$WARDFS" review apply
expect 0 find . -name 'f*' -path '*dddd*'
[ "$(printf '%s\n' "$OUT" | wc -l)" -eq 100 ] || fail "control: ten levels are applied"
rm -rf dddd*
expect 0 "$WARDFS" run --review -s deep -- python3 bounds.py deep 1500 1000
has "$ERR" "too deep to be applied"
expect 0 "$WARDFS" review deep
has "$OUT" "too deep to be applied"
expect 1 "$WARDFS" review apply --session deep
expect 0 "$WARDFS" review discard --session deep

echo "--- the journal has a bound, and what is staged stays readable"
expect 0 "$WARDFS" run -- python3 bounds.py names 1000
has "$OUT" "renamed 1000 times"
rm -f ./*"$(printf '\001')" ./*"$(printf '\002')"
expect 0 "$WARDFS" run --review -s long -- python3 bounds.py names 100000
has "$OUT" "EDQUOT"
has "$ERR" "1 file added"
expect 0 "$WARDFS" review apply --session long
[ "$(cat ./*"$(printf '\001')" ./*"$(printf '\002')" 2>/dev/null)" = written ] || fail "the file: $(ls -b)"

echo "--- a file of terabytes that is nothing but a hole"
truncate -s 4T huge 2>/dev/null || skip "no file system for a file of 4 TiB"
chown --reference=. huge
printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n' >../any.policy
expect 0 timeout 300 "$WARDFS" run --policy ../any.policy --review -s open -- sh -c 'exec 3<>huge; ls -l huge'
has "$ERR" "nothing changed"
expect 0 timeout 300 "$WARDFS" run --policy ../any.policy --review -s hole -- python3 -c '
with open("huge", "r+b") as f:
    f.seek(3 << 40)
    f.write(b"within")'
has "$ERR" "1 file changed"
expect 0 timeout 300 "$WARDFS" review hole
has "$OUT" "M huge"
digest=$(printf '%s\n' "$OUT" | sed -n 's/^manifest //p')
expect 0 timeout 300 "$WARDFS" review apply --session hole --manifest "$digest"
[ "$(dd if=huge bs=1 skip=$((3 << 40)) count=6 2>/dev/null)" = within ] || fail "the hole was not written to"
