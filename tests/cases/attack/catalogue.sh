#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/attack.md lists the attempts that `wardfs attack --list` prints, in the same words, and
# their number. --explain has a text for each of them.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

"$WARD_BUILD/wardfs" attack --list >list
sed -n 's/^  \([a-z0-9-]*\) *\(.*\)$/| `\1` | \2 |/p' list >wanted
sed -n '/^## The attempts/,$ { /^| `/p; }' "$WARD_SRC/docs/attack.md" >documented
[ "$(wc -l <wanted)" -ge 100 ] || fail "--list names few attempts"
diff wanted documented || fail "docs/attack.md lists other attempts than --list"
grep -q "for $(wc -l <wanted) ways out" "$WARD_SRC/docs/attack.md" || fail "docs/attack.md has another number"
[ "$(sort wanted | uniq -d | wc -l)" -eq 0 ] || fail "two attempts have one name"

while read -r _ name _; do
	"$WARD_BUILD/wardfs" attack --explain "$(echo "$name" | tr -d '`')" >out || fail "--explain $name"
	grep -q '^Would stop it:' out || fail "$name: $(cat out)"
done <wanted

echo "--- what is wrong is said"
expect 2 "$WARD_BUILD/wardfs" attack --explain nothing
echo "$ERR" | grep -q "no attempt is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --only read-path,nothing
echo "$ERR" | grep -q "no attempt is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --preset nothing
echo "$ERR" | grep -q "no preset is called 'nothing'" || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --preset docker
echo "$ERR" | grep -q 'needs --image' || fail "$ERR"
