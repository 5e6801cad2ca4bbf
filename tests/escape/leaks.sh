#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command starts with: three descriptors, the given environment, no capability.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

status() {
	inside "$1" -- sed -n "s/^$2:[[:space:]]*//p" /proc/self/status
}

check() {
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		[ "$(status "$1" $set)" = 0000000000000000 ] || fail "$1: $set is not empty"
	done
	[ "$(status "$1" NoNewPrivs)" = 1 ] || fail "$1: new privileges are possible"
	[ "$(status "$1" Seccomp)" = 2 ] || fail "$1: no filter"
	[ "$(status "$1" SigBlk)" = 0000000000000000 ] || fail "$1: signals are blocked"
	[ "$(status "$1" SigIgn)" = 0000000000000000 ] || fail "$1: signals are ignored"
	# 3 is the directory that ls reads. Descriptors 7 and 8 of the caller stay outside.
	out=$(inside "$1" -- ls /proc/self/fd 7<"$WARD_TMP/closed" 8<"$WARD_TMP" | tr '\n' ' ')
	[ "$out" = "0 1 2 3 " ] || fail "$1: descriptors: $out"
	out=$(SECRET=x inside "$1" --env A=1 --env PATH=/usr/bin -- env | sort | tr '\n' ' ')
	[ "$out" = "A=1 PATH=/usr/bin " ] || fail "$1: environment: $out"
	[ "$(inside "$1" -- hostname)" = sandbox ] || fail "$1: host name"
	[ "$(umask 027 && inside "$1" -- sh -c umask)" = 0027 ] || fail "$1: umask"
	# Locks of other programs, with the inodes of their files, and what file systems tell of
	# themselves.
	out=$(inside "$1" -- cat /proc/locks)
	[ -z "$out" ] || fail "$1: locks of the host: $out"
	out=$(inside "$1" -- sh -c 'ls -A /proc/fs')
	[ -z "$out" ] || fail "$1: the host's file systems: $out"
}

echo secret >"$WARD_TMP/closed"
chmod 600 "$WARD_TMP/closed"
# A lock of an open file: the kernel shows it in every pid namespace.
mkfifo "$WARD_TMP/locking"
python3 "$WARD_SRC/tests/escape/lib/leaks-lock.py" "$WARD_TMP/locked" <"$WARD_TMP/locking" &
locker=$!
exec 9>"$WARD_TMP/locking"
trap 'exec 9>&-; kill $locker 2>/dev/null || :' EXIT
wait_until 60 test -e "$WARD_TMP/locked.held" || fail "control: nobody has a lock"

# The control: without the sandbox the same caller hands all of it on.
out=$(ls /proc/self/fd 7<"$WARD_TMP/closed" | tr '\n' ' ')
case $out in *" 7 "*) ;; *) fail "control: descriptors: $out" ;; esac
out=$(SECRET=x env | grep -c '^SECRET=') || fail "control: environment"
grep -q '^CapEff:.*[1-9a-f]' /proc/self/status || ! by_root || fail "control: capabilities"
inode=$(stat -c %i "$WARD_TMP/locked")
apart --pid --fork --mount-proc grep -q "OFDLCK.*:$inode " /proc/locks || fail "control: locks"
[ -n "$(ls -A /proc/fs)" ] || fail "control: /proc/fs is empty"
each_mode check

by_root || exit 0
# As root the owner's groups stay, and only those; the command is never uid 0.
out=$(inside root --group 27 --group 44 -- id -G)
[ "$out" = "1000 27 44" ] || fail "groups: $out"
out=$(inside root --owner 0 --group 27 -- id -G)
[ "$out" = 1000 ] || fail "groups of another owner: $out"
"$RUN" --uid 0 --gid 0 -- true 2>"$WARD_TMP/err" && fail "uid 0 was accepted"
grep -q "may not run as user 0" "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
