#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attacks on the broker from inside, as root and as an ordinary user: changing DNS answers,
# disguised names, abstract sockets, slow and half-open clients, and all of the broker's
# descriptors in use.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/attacks-slow.py" slow.py
cp "$WARD_SRC/tests/cases/network/lib/attacks-full.py" full.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/slow.py" "$TOP/full.py" .

echo '--- a resolver that changes its answer'
policy "$HOME/pol" 'mode = allowlist' 'allow = rebind.example:3000' 'allow = late.example:3000' 'allow = cloud.example:3000'
expect 0 python3 n.py first rebind.example 3000
# One answer with a good and a bad address; then good first, bad when asked again.
printf '%s.example 203.0.113.10\n' late cloud >>"$NET/zone"
"$WARDFS" run --policy "$HOME/pol" --session rebind -- sh -c '
	for name in late cloud; do python3 n.py first $name.example 3000; done
	touch first
	until [ -e second ]; do sleep 0.05; done
	# The answer is kept for its TTL, at least 5 s: asked until it was asked for again.
	for name in late cloud; do
		for i in $(seq 1 300); do
			got=$(python3 n.py first $name.example 3000 2>&1)
			[ "$got" = SERVER-FIRST ] || break
			sleep 0.1
		done
		echo "$got"
	done' >out 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 60 test -e first || fail "$(cat out err)"
sed -i -e 's/^late.example.*/late.example 192.0.2.1/' -e 's/^cloud.example.*/cloud.example 169.254.169.254/' "$NET/zone"
[ "$(python3 n.py first cloud.example 3000)" = SERVER-FIRST ] || fail "control: nobody is at the metadata address"
touch second
wait "$run" || fail "$(cat out err)"
run=
[ "$(cat out)" = "SERVER-FIRST
SERVER-FIRST
ECONNRESET
ECONNRESET" ] || fail "rebinding: $(cat out err)"
expect 0 "$WARDFS" audit show rebind --kind deny
has "$OUT" 'addr 192.0.2.1'
has "$OUT" 'addr 169.254.169.254'
has "$OUT" 'not be reached'

if [ "$(id -u)" -eq 0 ]; then
	echo '--- a network that becomes this host'"'"'s own while the session runs (a VPN, another lease)'
	echo 'vpn.example 203.0.113.66' >>"$NET/zone"
	policy "$HOME/pol" 'mode = allowlist' 'allow = vpn.example:3000' 'allow = echo.example:3000'
	"$WARDFS" run --policy "$HOME/pol" --session vpn -- sh -c '
		python3 n.py first echo.example 3000
		python3 n.py first vpn.example 3000
		touch before
		until [ -e after ]; do sleep 0.05; done
		for i in 1 2; do python3 n.py first vpn.example 3000; done' >out 2>err &
	run=$!
	wait_until 60 test -e before || fail "$(cat out err)"
	[ "$(python3 n.py first vpn.example 3000)" = SERVER-FIRST ] || fail "control: the host does not reach it"
	ip addr add 203.0.113.77/27 dev wan noprefixroute
	[ "$(python3 n.py first vpn.example 3000)" = SERVER-FIRST ] || fail "control: the host does not reach it any more"
	touch after
	wait "$run" && rc=0 || rc=$?
	run=
	ip addr del 203.0.113.77/27 dev wan
	[ "$rc $(cat out)" = '1 SERVER-FIRST
SERVER-FIRST
ECONNRESET
ECONNRESET' ] || fail "$rc: $(cat out err)"
	expect 0 "$WARDFS" audit show vpn --kind deny
	has "$OUT" 'addr 203.0.113.66'
fi

echo '--- names in disguise'
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'allow = xn--wb-bja.example'
: >"$NET/log"
expect 0 "$WARDFS" run --policy "$HOME/pol" -- sh -c '
	python3 n.py dns A xn--wb-bja.example
	python3 n.py dns A WEB.EXAMPLE
	python3 n.py dns A "w\\195\\169b.example"
	python3 n.py dns A "web\\000.example"
	python3 n.py dns A "web.example\\000"
	python3 n.py dns A "web.example\\010evil"
	python3 n.py dns A "web\\046example"
	python3 n.py dns A "0x7f000001"
	python3 n.py dns A "2130706433"
	for kind in NS MX SRV NULL CNAME HTTPS ANY TXT; do python3 n.py dns $kind "$(head -c 40 /dev/zero | tr "\\0" s).secret.example"; done'
[ "$(echo "$OUT" | tr '\n' ' ')" = '0 1 0 1 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 3 0 ' ] || fail "names: $OUT"
[ ! -s "$NET/log" ] || fail "asked outside: $(cat "$NET/log")"

echo '--- abstract sockets of the host'
python3 -c '
import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("\0wardfs-attack"); s.listen()
open("abstract", "w").close()
time.sleep(600)' &
server=$!
trap 'kill $server $run 2>/dev/null || :' EXIT
wait_until 60 test -e abstract || fail "no abstract socket"
try='import socket, errno
s = socket.socket(socket.AF_UNIX)
try:
    s.connect("\0wardfs-attack"); print("connected")
except OSError as e: print(errno.errorcode[e.errno])'
[ "$(python3 -c "$try")" = connected ] || fail "control: the abstract socket"
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 -c "$try"
[ "$OUT" = ECONNREFUSED ] || [ "$OUT" = EPERM ] || fail "an abstract socket of the host: $OUT"
kill "$server"
server=

echo '--- more at once than can be looked at'
# While the broker is held, the kernel goes on refusing; what it could not show stands in the trail
# as a number.
cp "$WARD_SRC/tests/cases/network/lib/attacks-flood.py" flood.py
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example'
"$WARDFS" run --policy "$HOME/pol" --session flood -- python3 flood.py >out 2>err &
run=$!
wait_until 60 test -e flooding || fail "not started: $(cat out err)"
broker=$(brokers "$run")
kill -STOP "$broker"
touch held
wait_until 60 test -e flooded || fail "the flood does not end: $(cat out err)"
kill -CONT "$broker"
touch let-go
wait "$run" || fail "$(cat out err)"
run=
expect 0 "$WARDFS" audit show flood --kind deny
missed=$(echo "$OUT" | sed -n 's/.* \([0-9]*\) attempts came faster.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
seen=$(echo "$OUT" | grep -c 'addr 203.0.113.10  proto udp') || :
[ "$seen" -gt 0 ] && [ "$missed" -gt 0 ] && [ $((seen + missed)) -eq 5000 ] || fail "$seen seen, $missed counted, of 5000: $OUT"
expect 0 "$WARDFS" audit verify flood

echo '--- slow clients, and ends of one direction'
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'allow = echo.example:3000'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 slow.py
[ "$OUT" = 'hello from web.example
True
SERVER-FIRST
last words' ] || fail "slow clients: $OUT $ERR"

echo '--- a broker without descriptors'
# A connection takes two: with the last one free, it would be taken and then not made.
prlimit --nofile=201:201 "$WARDFS" run --policy "$HOME/pol" --session full -- python3 full.py >out 2>err &
run=$!
wait_until 120 test -e full || fail "not full: $(cat out err)"
broker=$(brokers "$run")
[ -n "$broker" ] || fail "no wardfs-net"
# A loop that never rests makes many thousands of system calls while it is looked at. Root alone may
# look.
if [ "$(id -u)" -eq 0 ]; then
	strace -qq -o calls -p "$broker" 2>strace.err &
	tracer=$!
	traced() { grep -q "^TracerPid:[[:space:]]*$tracer\$" "/proc/$broker/status"; }
	wait_until 60 traced || fail "not looked at: $(cat strace.err)"
	sleep 1
	kill "$tracer"
	wait "$tracer" || [ $? -eq 143 ]
	[ -f calls ] && [ "$(wc -l <calls)" -lt 1000 ] || fail "the broker does not rest: $(tail -20 calls)"
fi
touch measured
wait "$run" || fail "$(cat out err)"
run=
[ "$(cat out)" = "reset
reset
full b'x'
again" ] || fail "full: $(cat out err)"
expect 0 "$WARDFS" audit verify full
expect 0 "$WARDFS" audit show full --kind deny
has "$OUT" 'no room for another connection'
[ "$(echo "$OUT" | grep -c 'no room')" -lt 20 ] || fail "each one is recorded: $OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
