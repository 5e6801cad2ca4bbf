#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Network `none`: refused at once, and no way around it reaches the host.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

name=wardfs-test-$$
mkfifo "$WARD_TMP/hold"
"$ATTACK" listen "$name" <"$WARD_TMP/hold" >"$WARD_TMP/listen.out" &
listener=$!
exec 9>"$WARD_TMP/hold"
trap 'exec 9>&-; kill $listener 2>/dev/null || :; rm -f "$WARD_TMP/hold" "$WARD_TMP/listen.out"' EXIT
# The same by TCP, on the host's loopback.
mkfifo "$WARD_TMP/hold2"
python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0), backlog=64)
print(s.getsockname()[1], flush=True)
sys.stdin.read()' <"$WARD_TMP/hold2" >"$WARD_TMP/port" &
server=$!
exec 8>"$WARD_TMP/hold2"
trap 'exec 9>&- 8>&-; kill $listener $server 2>/dev/null || :; rm -f "$WARD_TMP"/hold* "$WARD_TMP/listen.out"' EXIT
i=0
until [ -s "$WARD_TMP/port" ]; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "control: no server"
	sleep 0.1
done
port=$(cat "$WARD_TMP/port")
i=0
until grep -q ready "$WARD_TMP/listen.out"; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "control: no listener"
	sleep 0.1
done

check() {
	blocked "$1" ENETUNREACH connect 192.0.2.1 80
	blocked "$1" ECONNREFUSED connect 127.0.0.1 "$port"
	blocked "$1" EPERM socket 2 3 1       # AF_INET, SOCK_RAW, ICMP
	blocked "$1" EPERM socket 10 3 58
	blocked "$1" EAFNOSUPPORT socket 17 3 0 # AF_PACKET
	blocked "$1" EAFNOSUPPORT socket 40 1 0 # AF_VSOCK
	blocked "$1" EAFNOSUPPORT socket 38 5 0 # AF_ALG
	blocked "$1" EAFNOSUPPORT socket 16 3 9 # NETLINK_AUDIT
	blocked "$1" EPERM socket 2 10 768       # AF_INET, SOCK_PACKET
	blocked "$1" EPROTONOSUPPORT socket 2 1 262 # MPTCP
	blocked "$1" EPROTONOSUPPORT socket 2 5 0   # SOCK_SEQPACKET: SCTP
	blocked "$1" EPROTONOSUPPORT socket 10 1 132
	works inside "$1" -- /attack socket 16 3 0
	works inside "$1" -- /attack socket 10 1 6
	works inside "$1" -- /attack socket 2 2 17
	works inside "$1" -- /attack socket 1 5 0
	works inside "$1" -- /attack loopback
	# Abstract sockets belong to the network namespace.
	blocked "$1" ECONNREFUSED abstract "$name"
	out=$(inside "$1" -- sh -c 'ls /sys/class/net 2>/dev/null; cat /proc/net/dev | tail -n +3 | cut -d: -f1')
	[ "$(echo "$out" | tr -d ' ')" = lo ] || fail "$1: interfaces: $out"
}

works "$ATTACK" connect 127.0.0.1 "$port"
works apart --net "$ATTACK" socket 17 3 0
# A kernel may lack these: then there is nothing to test.
for kind in "40 1 0" "38 5 0" "2 5 0" "10 1 132"; do
	# shellcheck disable=SC2086
	out=$("$ATTACK" socket $kind) || case $out in
	EAFNOSUPPORT | EPROTONOSUPPORT | ESOCKTNOSUPPORT) echo "note: this kernel has no socket $kind" ;;
	*) fail "control: socket $kind: $out" ;;
	esac
done
works apart --net "$ATTACK" socket 2 3 1
works apart --net "$ATTACK" socket 10 3 58
works "$ATTACK" abstract "$name"
works "$ATTACK" socket 16 3 9
works apart --net "$ATTACK" socket 2 10 768
works "$ATTACK" socket 2 1 262
each_mode check
