#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An apply that is killed leaves the file that it displaced, or a copy of the new one, under a name
# of its own. No rule for the file's name covers that name, so no session may read it. The controls:
# a file of almost that name, and the apply that finishes.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
printf 'old\n' >data
printf '[policy]\nversion = 1\nextends = medium\n[guard]\ndeny = data\n' >../strict.policy
expect 0 "$WARDFS" run --review -- sh -c 'echo new >data'

echo "--- killed between the exchange and the removal"
strace -o ../trace -f -e trace=unlinkat -e inject=unlinkat:signal=KILL:when=1 \
	"$WARDFS" review apply >../out 2>&1 || :
beside=$(find . -name '.wardfs-apply-*')
[ -n "$beside" ] && [ "$(cat "$beside")" = old ] && [ "$(cat data)" = new ] ||
	fail "control: nothing is left beside: $(ls -A) $(cat ../out)"
cp "$beside" .wardfs-applied
expect 1 "$WARDFS" run --policy ../strict.policy -- cat data
expect 0 "$WARDFS" run --policy ../strict.policy -- cat .wardfs-applied
[ "$OUT" = old ] || fail "control: $OUT"
expect 1 "$WARDFS" run --policy ../strict.policy -- cat "$beside"
hasnt "$OUT" old
has "$ERR" "(built-in:"
expect 1 "$WARDFS" run --policy ../strict.policy -- sh -c "mv '$beside' mine || ln '$beside' mine"
[ "$(cat "$beside")" = old ] || fail "a session has taken it"

echo "--- another apply finishes"
expect 0 "$WARDFS" review apply
[ "$(cat data)" = new ] && [ ! -e "$beside" ] || fail "left: $(ls -A)"
