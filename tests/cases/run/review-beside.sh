#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the state directory is on another file system, an apply writes the new file beside the
# other one, under a name of its own. An apply that is killed leaves it there. No rule for the
# file covers that name, so no session may read it. The controls: a file of almost that name, and
# the apply that finishes.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
printf 'old\n' >data
printf '[policy]\nversion = 1\nextends = medium\n[guard]\ndeny = data\n' >../strict.policy
XDG_STATE_HOME=$(mktemp -d /dev/shm/wardfs-review-XXXXXX)
export XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
[ "$(stat -c %d "$XDG_STATE_HOME")" != "$(stat -c %d .)" ] || fail "control: one file system"
expect 0 "$WARDFS" run --review -- sh -c 'echo new >data'

echo "--- killed before the exchange"
strace -o ../trace -f -e trace=renameat2 -e inject=renameat2:signal=KILL:when=1 \
	"$WARDFS" review apply >../out 2>&1 || :
beside=$(find . -name '.wardfs-apply-*')
[ -n "$beside" ] && [ "$(cat "$beside")" = new ] && [ "$(cat data)" = old ] ||
	fail "control: nothing is left beside: $(ls -A) $(cat ../out)"
cp "$beside" .wardfs-applied
expect 1 "$WARDFS" run --policy ../strict.policy -- cat data
expect 0 "$WARDFS" run --policy ../strict.policy -- cat .wardfs-applied
[ "$OUT" = new ] || fail "control: $OUT"
expect 1 "$WARDFS" run --policy ../strict.policy -- cat "$beside"
hasnt "$OUT" new
has "$ERR" "(built-in:"
expect 1 "$WARDFS" run --policy ../strict.policy -- sh -c "mv '$beside' mine || ln '$beside' mine"
[ "$(cat "$beside")" = new ] || fail "a session has taken it"

echo "--- another apply finishes"
expect 0 "$WARDFS" review apply
[ "$(cat data)" = new ] && [ ! -e "$beside" ] || fail "left: $(ls -A)"
