#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hosts that administrators have hardened: /proc hides processes of others, /tmp is mounted noexec,
# the root is read-only, /dev/fuse is for root alone. Sessions of root and of an ordinary user work,
# or are refused with the reason and the fix.
# alone
# timeout: 900
# shellcheck disable=SC2154
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
manager
home "$WARD_TMP/user"
n=0

# works WHAT: whole sessions of both
works() {
	n=$((n + 1))
	(
		cd "$WARD_TMP"
		eval "$session"
		session "$WARD_TMP/root$n"
	) || fail "$1: root"
	owner "$WARD_TMP/user" "$session"'session "$HOME/w$1"
		cd "$HOME/w$1/p"
		"$WARDFS" doctor >told || [ $? -eq 1 ] || fail "doctor"
		grep -q "^This host can run the default policy" told || fail "doctor: $(cat told)"' $n || fail "$1: the user"
	echo "$1: root and the user"
}

works "as it is"

chmod 600 /dev/fuse
owner "$WARD_TMP/user" 'mkdir fuse && cd fuse
	expect 125 "$WARDFS" run -- touch never
	has "$ERR" /dev/fuse
	has "$ERR" "ermission denied"
	"$WARDFS" doctor >told && fail "doctor is content: $(cat told)"
	grep -A1 "^[a-z]* */dev/fuse" told | grep -q "fix:" || fail "doctor: $(cat told)"
	[ ! -e never ]' || fail "no rights on /dev/fuse"
(cd "$WARD_TMP" && mkdir fuse && cd fuse && expect 0 "$WARDFS" run -- true) || fail "no rights on /dev/fuse: root"
chmod 666 /dev/fuse

for way in noaccess invisible ptraceable; do
	mount -o "remount,hidepid=$way" /proc || fail "hidepid=$way"
	owner "$WARD_TMP/user" '! [ -r /proc/1/stat ]' || fail "control: hidepid=$way hides nothing"
	works "hidepid=$way"
done
mount -o remount,hidepid=off /proc

mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs /tmp
mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs /dev/shm
cp /bin/true /tmp/true
refused "ermission denied" /tmp/true
works "no execution in /tmp and /dev/shm"
umount /tmp /dev/shm

# In this mount namespace, all but the test's directory and the mounts of systemd is read-only.
mount --bind "$WARD_TMP" "$WARD_TMP"
mount -o remount,bind,ro /
refused "Read-only file system" touch /etc/wardfs-was-here
works "a read-only root"
mount -o remount,bind,rw /
umount "$WARD_TMP"
