#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# "latest" where a running session is asked for: the one that was started last of those that run.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = 1M\n' >../base.policy
# session NAME: runs until it is killed
session() {
	"$WARDFS" run --session "$1" --policy ../base.policy -- sh -c "touch up-$1; exec sleep 600" 2>err-"$1" &
	wait_until 60 test -e "up-$1" || fail "$1 did not start: $(cat "err-$1")"
}
trap '"$WARDFS" kill b 2>/dev/null || :; "$WARDFS" kill a 2>/dev/null || :; wait' EXIT
# By the time of its start, not by name, nor by where it stands in a directory.
session b
b=$!
session a
a=$!
expect 0 "$WARDFS" ps --json latest
has "$OUT" '"session": "a"'
hasnt "$OUT" '"session": "b"'
expect 0 "$WARDFS" exec latest -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = a ] || fail "exec: $OUT"
expect 0 "$WARDFS" quota latest
has "$OUT" "a"
hasnt "$OUT" "b:"
expect 0 "$WARDFS" policy reload --json latest ../base.policy
expect 2 "$WARDFS" attach latest </dev/null
has "$ERR" "wants a terminal"
expect 0 "$WARDFS" kill latest
rc=0
wait $a || rc=$?
[ $rc = 143 ] || fail "a ended with another status"
kill -0 $b || fail "b ended too"
# Now another one is the latest; then there is none.
expect 0 "$WARDFS" exec latest -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = b ] || fail "exec: $OUT"
expect 0 "$WARDFS" kill latest
expect 143 wait $b
for verb in ps kill quota; do
	expect 1 "$WARDFS" $verb latest
	has "$ERR" "no session is running"
done
expect 2 "$WARDFS" exec latest -- true
has "$ERR" "no session is running"
expect 2 "$WARDFS" attach latest
has "$ERR" "no session is running"
expect 1 "$WARDFS" policy reload latest ../base.policy
has "$ERR" "no session is running"
# The word is no name; and who needs a session says so.
expect 2 "$WARDFS" run --session latest -- true
for verb in kill exec attach; do
	expect 2 "$WARDFS" $verb
	has "$ERR" "a session is needed"
done
