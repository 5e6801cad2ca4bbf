#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody sends the host's writer descriptors that nobody can close at once: TCP sockets with
# SO_LINGER and a peer that does not read, within the share of sessions and beyond it. Others still
# have their trails, also where the kernel cannot refuse such descriptors (before Linux 6.16). The
# control: a process that closes such a socket waits.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
STORE=/var/lib/wardfs-audit
SOCKET=/run/wardfs-audit/socket
[ $# -gt 0 ] || exec unshare --mount --propagation private sh "$0" inside

mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /run
chmod 755 "$WARD_TMP"
service=
attack=
trap '[ -z "$service" ] || stop; kill $attack 2>/dev/null || :' EXIT

timeout -s KILL 5 python3 "$WARD_SRC/tests/cases/audit/lib/system-flight.py" - 0 >"$WARD_TMP/control" && r=0 || r=$?
[ "$(cat "$WARD_TMP/control")" = closes ] && [ $r -ne 0 ] || fail "control: closed at once"

# stop: the service, also where knockout is between it and us
stop() {
	inner=$(cat "/proc/$service/task/$service/children")
	kill $service $inner 2>/dev/null || :
	wait $service || :
	service=
}

for before in "" "$WARD_BUILD/tests/support/knockout passrights=ENOPROTOOPT --"; do
	rm -rf /run/wardfs-audit "$STORE"
	mkdir /run/wardfs-audit "$STORE"
	chmod 711 "$STORE"
	chown 4712:4712 "$STORE"
	# shellcheck disable=SC2086 # two words, or none
	$before python3 "$WARD_SRC/tests/support/activate.py" "$SOCKET" 4712 \
		"$WARD_BUILD/wardfs-auditd" --sessions 4 2>"$WARD_TMP/said" &
	service=$!
	wait_until 60 test -S "$SOCKET" || fail "the service does not start"
	setpriv --reuid=4713 --regid=4713 --clear-groups python3 "$WARD_SRC/tests/cases/audit/lib/system-flight.py" \
		"$SOCKET" 80 >"$WARD_TMP/sent" &
	attack=$!
	wait_until 120 grep -q sent "$WARD_TMP/sent" || fail "the attack does not begin"
	for i in 1 2 3; do
		expect 0 timeout 60 setpriv --reuid=4714 --regid=4714 --clear-groups \
			python3 "$WARD_SRC/tests/support/system-client.py" session "s$i"
		has "$OUT" "opened s$i"
		has "$OUT" summary
	done
	kill $attack
	wait $attack || :
	attack=
	stop
done
