#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The server of a file that was given as 0 or 1 stops answering. The session continues: its clock
# can end it, it takes further commands, and when the server answers again nothing was lost.
# timeout: 300
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
cd "$WARD_TMP"
mkdir back slow
"$WARD_BUILD/tests/support/foldfs" exact "$WARD_TMP/back" "$WARD_TMP/slow" &
server=$!
session=
# Processes that wait for the server can end only after the server goes on.
cleanup() {
	kill -CONT $server 2>/dev/null || :
	[ -z "$session" ] || kill "$session" 2>/dev/null || :
	umount -l slow 2>/dev/null || :
	kill $server 2>/dev/null || :
}
trap cleanup EXIT
wait_until 60 mountpoint -q slow || fail "no file system"
mkdir control
mount -t fusectl fusectl control
waiting=$WARD_TMP/control/$(($(stat -c %d slow) & 255))/waiting
[ -e "$waiting" ] || fail "no such connection: $waiting"
project p
cd p || exit 1

stopped() { grep -q '^State:.T' /proc/$server/status; }
waits() { [ "$(cat "$waiting")" -gt 0 ]; }
# stall: the server is stopped once the session has begun; then the session reads and writes, and
# waits.
stall() {
	wait_until 60 grep -qs begun ../back/out || fail "no session"
	kill -STOP $server
	wait_until 60 stopped || fail "the server goes on"
	: >go
	wait_until 60 waits || fail "nobody waits for the file"
}
# onward: it answers again. Sets GOT to the session's status.
onward() {
	kill -CONT $server
	GOT=0
	wait $session || GOT=$?
	session=
}

# Input and output: while both wait, another command runs; in the end everything arrived.
head -c 3000000 /dev/urandom >../back/in
"$WARDFS" run --session slow -- \
	sh -c 'echo begun; while [ ! -e go ]; do sleep 0.05; done; tee copy; exit 3' <../slow/in >../slow/out &
session=$!
stall
timeout 60 "$WARDFS" exec slow echo inside >../said || fail "the supervisor waits for the file: $?"
has "$(cat ../said)" inside
has "$(status_of slow session)" slow
onward
[ $GOT = 3 ] || fail "status $GOT"
cmp ../back/in copy || fail "not everything was read"
{ echo begun && cat ../back/in; } | cmp - ../back/out || fail "not everything was written"

# The clock ends what runs inside while the file waits.
rm go ../back/out
mark=9$$7
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 10s\ngrace = 1s\n' >../wall.policy
"$WARDFS" run --session slow --policy ../wall.policy -- \
	sh -c "echo begun; while [ ! -e go ]; do sleep 0.05; done; sleep $mark & yes" >../slow/out &
session=$!
stall
wait_until 120 ended $mark || fail "the clock did not ring"
onward
[ $GOT = 124 ] || fail "the clock: status $GOT"
