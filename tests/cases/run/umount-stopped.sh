#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A supervisor that somebody has stopped does not say that a mount is its own. `wardfs umount` then
# says so and takes nothing away, unless --lazy is given. The controls: the same before and
# afterwards; and the mount of a supervisor that has ended goes, whoever else is stopped.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: mounts"
mkdir src one two
echo x >src/f
pids=
trap 'for p in $pids; do kill -CONT $p 2>/dev/null || :; kill -9 $p 2>/dev/null || :; done; umount -l one two 2>/dev/null || :' EXIT
# begin NAME DIR: $pid is its supervisor
begin() {
	expect 0 "$WARDFS" mount -s "$1" src "$2"
	pid=$(status_of "$1" pid)
	pids="$pids $pid"
}
mounted() { grep -q " $PWD/$1 fuse" /proc/mounts; }
whole() { "$WARDFS" audit verify "$1" | grep -q "^$1: intact: unmounted"; }
stop() {
	kill -STOP "$1"
	wait_until 60 grep -q '^State:.T' "/proc/$1/status"
}

echo "--- control: nobody is stopped"
begin c1 one
expect 0 "$WARDFS" umount one
[ -z "$ERR" ] || fail "said: $ERR"
whole c1 || fail "the trail is not complete"

echo "--- its supervisor is stopped: said, and nothing goes"
begin s1 one
stop "$pid"
expect 1 "$WARDFS" umount one
has "$ERR" "session s1 does not answer, and $PWD/one may be its mount"
mounted one && [ "$(cat one/f)" = x ] || fail "the mount is gone"
kill -CONT "$pid"
expect 0 "$WARDFS" umount one
[ -z "$ERR" ] || fail "said: $ERR"
whole s1 || fail "the trail is not complete"

echo "--- lazily it goes, and that is said"
begin s2 one
stop "$pid"
expect 0 "$WARDFS" umount --lazy one
has "$ERR" "session s2 does not answer"
! mounted one || fail "the mount is still there"
! whole s2 || fail "control: the trail has an end already"
kill -CONT "$pid"
wait_until 60 whole s2 || fail "the trail is not complete"

echo "--- a mount whose supervisor has ended goes, also while another one is stopped"
begin s3 one
other=$pid
begin s4 two
stop "$other"
kill -9 "$pid"
wait_until 60 gone "$pid"
dead() { ! stat two/f 2>/dev/null; }
wait_until 60 dead || fail "control: it is still served"
expect 0 "$WARDFS" umount two
hasnt "$ERR" "s3"
! mounted two || fail "two is still there"
kill -CONT "$other"
expect 0 "$WARDFS" umount one
whole s3 || fail "the trail is not complete"
