#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: root has a wardfs mount in a user's directory. While root unmounts it, the user renames
# the directory and leaves a link to a directory with another mount. Root must not unmount that
# one. The control: nobody moves anything, and the mount goes.
# timeout: 300
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: another user's directory"
strace -o /dev/null true 2>/dev/null || skip "needs strace, to hold the call"
case $(uname -m) in
x86_64) umount2=166 ;;
aarch64) umount2=39 ;;
*) skip "does not know the number of umount2 here" ;;
esac
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
mount -t tmpfs -o mode=755 tmpfs /srv
cd /srv
mkdir -p source yours victim/mnt
chown 4711:4711 yours
mount -t tmpfs victim victim/mnt
as_4711() { setpriv --reuid=4711 --regid=4711 --clear-groups "$@"; }
mounted() { grep -q "^$1 $2 " /proc/mounts; }
session_pid() {
	"$WARDFS" ps --json | python3 -c '
import json, sys
print(json.load(sys.stdin)[0]["pid"])'
}
held() { grep -q "^$umount2 " "/proc/$pid/syscall"; }
# begin: mounts, and takes away; returns while the call that does is held
begin() {
	as_4711 mkdir -p yours/there/mnt
	strace -f -qq -o trace -e trace=umount2 -e inject=umount2:delay_enter=2000000 \
		"$WARDFS" mount -f --policy high source yours/there/mnt >out 2>&1 &
	traced=$!
	wait_until 60 mounted wardfs /srv/yours/there/mnt || fail "not mounted: $(cat out)"
	wait_until 60 session_pid || fail "no session"
	pid=$(session_pid)
	"$WARDFS" umount yours/there/mnt >told 2>&1 &
	asks=$!
	wait_until 60 held || fail "nothing takes the mount away: $(cat told trace)"
}

traced=
pid=
trap 'for p in $traced $pid; do kill "$p" 2>/dev/null || :; done' EXIT

echo "--- control"
begin
wait $asks || :
wait $traced || fail "$(cat out)"
! mounted wardfs /srv/yours/there/mnt || fail "it is still there"

echo "--- the user moves the directory meanwhile"
begin
as_4711 mv yours/there yours/away
as_4711 ln -s /srv/victim yours/there
wait_until 60 grep -q 'umount2(.* = ' trace || fail "the call does not end"
mounted victim /srv/victim/mnt || fail "root took another mount away: $(cat trace)"
wait $asks || :
wait $traced || :
! mounted wardfs /srv/yours/away/mnt || fail "wardfs' own is still there"
