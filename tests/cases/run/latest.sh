#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# "latest" is this project's last session: the last running one, or the last one with a trail. A
# name means the newest running session of that name.
# shellcheck disable=SC2016
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
trap '"$WARDFS" kill other 2>/dev/null || :; "$WARDFS" kill c 2>/dev/null || :; "$WARDFS" kill dev 2>/dev/null || :; "$WARDFS" kill dev 2>/dev/null || :; "$WARDFS" kill b 2>/dev/null || :; "$WARDFS" kill a 2>/dev/null || :; wait' EXIT
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
has "$ERR" "needs a terminal"
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
# Of this project: another one's session is not meant, and not killed. Outside of any, the last of
# all, and it is said.
project ../other
mkdir ../none
session c
c=$!
(cd ../other && exec "$WARDFS" run --keep --session other -- true) || fail "the other project's"
expect 0 "$WARDFS" exec latest -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = c ] || fail "exec latest: $OUT"
(
	cd ../none || exit 1
	expect 0 "$WARDFS" exec latest -- sh -c 'echo $WARDFS_SESSION'
	[ "$OUT" = other ] || fail "outside: $OUT"
	has "$ERR" "'latest' is other, of $(dirname "$PWD")/other"
	expect 0 "$WARDFS" audit show --json
	has "$OUT" '"session":"other"'
	has "$ERR" "'latest' is other"
	expect 0 "$WARDFS" audit list
	has "$OUT" "other "
	has "$OUT" "c "
	hasnt "$ERR" more
)
# A list is of this project, and says what it leaves out; a question of programs, and one about
# records, is of all.
expect 0 "$WARDFS" audit list
has "$OUT" "c "
hasnt "$OUT" "other "
has "$ERR" "1 more session, of other projects or without a trail: 'wardfs audit list --all'"
expect 0 "$WARDFS" audit list --all
has "$OUT" "c "
has "$OUT" "other "
hasnt "$ERR" more
expect 0 "$WARDFS" audit list --json
has "$OUT" '"session": "other"'
expect 0 "$WARDFS" audit list --kind session.start
has "$OUT" "other "
expect 0 "$WARDFS" audit show --json latest
has "$OUT" '"session":"c"'
hasnt "$OUT" '"session":"other"'
expect 0 "$WARDFS" kill other
(
	cd ../other || exit 1
	expect 1 "$WARDFS" kill latest
	has "$ERR" "no session of this project ($PWD) is running"
	expect 0 "$WARDFS" audit show --json
	has "$OUT" '"session":"other"'
	git init -q ../third
	cd ../third || exit 1
	expect 125 "$WARDFS" audit show
	has "$ERR" "no session of this project ($PWD) has a trail; wardfs audit list --all"
)
kill -0 $c || fail "c of this project ended"
expect 0 "$WARDFS" kill c
expect 143 wait $c

# A name that was used gets a number, and that is said; the name means the newest that runs.
expect 0 "$WARDFS" run --keep --session dev -- true
hasnt "$ERR" "used before"
expect 0 "$WARDFS" run --keep --session dev -- true
has "$ERR" "the name dev was used before: this session is dev.2"
expect 0 "$WARDFS" exec dev -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = dev.2 ] || fail "exec dev: $OUT"
[ "$ERR" = "wardfs: using dev.2, the newest; dev.1 means the first" ] || fail "$ERR"
expect 0 "$WARDFS" exec dev.1 -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = dev ] || fail "exec dev.1: $OUT"
# kill ends none of them by a name that both have.
expect 1 "$WARDFS" kill dev
has "$ERR" "2 running sessions are called dev, so wardfs ended none of them"
expect 0 "$WARDFS" kill dev.2
[ "$ERR" = "wardfs: session dev.2 has ended" ] || fail "kill says: $ERR"
expect 0 "$WARDFS" exec dev -- sh -c 'echo $WARDFS_SESSION'
[ "$OUT" = dev ] || fail "exec dev: $OUT"
hasnt "$ERR" newest
expect 0 "$WARDFS" kill dev
expect 2 "$WARDFS" exec dev -- true
has "$ERR" "no session 'dev' is running"
# The word is no name; and who needs a session says so.
expect 2 "$WARDFS" run --session latest -- true
for verb in kill exec attach; do
	expect 2 "$WARDFS" $verb
	has "$ERR" "a session is needed"
done
