#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack --shell: attempts by hand. Without a sandbox they succeed, and the observer names
# what changed; in a session they are refused. --explain prints the command. Nothing is left, also
# when the terminal goes away.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

WARDFS=$WARD_BUILD/wardfs
export XDG_STATE_HOME="$WARD_TMP/state"
mkdir project && cd project
nothing_left() {
	for left in "$PWD"/wardfs-attack.* "$TMPDIR"/wardfs-attack.*; do
		[ ! -e "$left" ] || fail "$1: $left is left"
	done
}
cat >../typed <<'S'
./attempt read-path
./attempt write-path
./attempt signal
./attempt nonsense || echo "status $?"
cat "$fact_secret"; echo
S

echo "--- without a sandbox, the control"
expect 2 "$WARDFS" attack --shell --preset none
"$WARDFS" attack --shell --sandbox 'env A=b' <../typed >../out 2>../err || fail "$(cat ../err)"
grep -q '^read-path: done, and it brought back [0-9a-f]' ../out || fail "$(cat ../out)"
grep -q '^write-path: done' ../out || fail "$(cat ../out)"
grep -q '^nonsense: no attempt of a program is called that' ../out || fail "$(cat ../out)"
grep -q '^status 2' ../out || fail "$(cat ../out)"
grep -q '^changed outside: the target of write-path' ../out || fail "$(cat ../out)"
grep -q '^changed outside: process [0-9]*, the victim' ../out || fail "$(cat ../out)"
grep -qF 'a shell in env A=b' ../err || fail "$(cat ../err)"
nothing_left control

echo "--- in a session"
"$WARDFS" attack --shell <../typed >../out 2>../err || fail "$(cat ../err)"
grep -q '^read-path: refused: E' ../out || fail "$(cat ../out)"
grep -q '^write-path: refused: E' ../out || fail "$(cat ../out)"
grep -q '^nothing has changed outside' ../out || fail "$(cat ../out)"
nothing_left session

echo "--- what --explain says"
expect 0 "$WARDFS" attack --policy high --explain read-path
echo "$OUT" | grep -q 'By hand: *wardfs attack --policy high --shell, then ./attempt read-path' || fail "$OUT"
expect 0 "$WARDFS" attack --explain script-engine
! echo "$OUT" | grep -q 'By hand' || fail "$OUT"
expect 2 "$WARDFS" attack --shell --script
expect 2 "$WARDFS" attack --shell --mode wasm

echo "--- the terminal goes away"
mkfifo ../wait
"$WARDFS" attack --shell >../out 2>&1 <../wait &
pid=$!
exec 7>../wait
for _ in $(seq 300); do
	grep -q 'a shell in' ../out && break
	sleep 0.1
done
kill -HUP "$pid"
exec 7>&-
wait "$pid" || :
nothing_left 'a signal'
