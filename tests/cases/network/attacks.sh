#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# As root and as an ordinary user, attacks on the broker from inside: answers of DNS that change, names in disguise, abstract sockets,
# slow and half-open clients, and all descriptors of the broker in use.
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root"; exit 77; }

cat >slow.py <<'S'
# Clients that begin and do not go on, many at once; then somebody who does.
import re, socket
def connect(host, port):
    s = socket.create_connection((host, port))
    s.settimeout(60)
    return s
broker = re.search(r"nameserver (\S+)", open("/etc/resolv.conf").read()).group(1)
held = []
for i in range(100):
    for port, start in ((3128, b"GET http://web.example/ HTTP/1.1\r\nHo"), (3128, b"\x05"), (53, b"\0\x20half")):
        if port == 53 and i >= 63:
            continue
        s = connect(broker, port)
        s.sendall(start)
        held.append(s)
    s = connect("web.example", 80)
    s.sendall(b"GET / HTTP/1.1\r\nHost: web.ex")
    held.append(s)
    s = connect("web.example", 443)
    s.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
    held.append(s)
s = connect("web.example", 80)
s.sendall(b"GET / HTTP/1.1\r\nHost: web.example\r\nConnection: close\r\n\r\n")
print(s.makefile().read().split("\n")[-2])
s = connect(broker, 53)
q = bytes.fromhex("000701000001000000000000") + b"\3web\7example\0\0\1\0\1"
s.sendall(len(q).to_bytes(2, "big") + q)
print(len(s.recv(100)) > 30)
# One direction ended, the other goes on: both ways.
s = connect("echo.example", 3000)
s.sendall(b"last words\r\n")
s.shutdown(socket.SHUT_WR)
print(s.makefile().read())
S
cat >full.py <<'S'
# As many connections as the broker can have, and more.
import errno, socket, sys, time
def one():
    try:
        s = socket.create_connection(("echo.example", 3000))
        s.settimeout(60)
        return s if s.recv(100) else None
    except OSError:
        return None
held, refused = [], 0
while refused < 20 and len(held) < 2000:
    s = one()
    if s:
        held.append(s)
    else:
        refused += 1
# The other listeners, now: none of them hangs, and none of them keeps the loop busy.
for port in (3128, 53):
    s = socket.create_connection(("198.18.0.1", port))
    s.settimeout(60)
    try:
        s.sendall(b"\x05")
        print("reset" if not s.recv(10) else "answered")
    except OSError as e:
        print("reset" if e.errno in (errno.ECONNRESET, errno.EPIPE) else e)
print("full" if refused and 20 < len(held) < 2000 else len(held), held[0].send(b"x") and held[0].recv(10))
open("full", "w").close()
while not __import__("os").path.exists("measured"):
    time.sleep(0.05)
for s in held:
    s.close()
for i in range(1200):
    s = one()
    if s:
        print("again")
        break
    time.sleep(0.05)
S
cat >check.sh <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
. "$WARD_SRC/tests/cases/network/lib.sh"
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
trap 'kill $run 2>/dev/null' EXIT
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
trap 'kill $server $run 2>/dev/null' EXIT
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
# While the broker is held, the kernel goes on refusing; what it could not show stands in the trail as a number.
cat >flood.py <<'P'
import os, socket, time
def wait(name):
    for i in range(1200):
        if os.path.exists(name):
            return
        time.sleep(0.05)
open("flooding", "w").close()
wait("held")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(5000):
    try:
        s.sendto(b"x", ("203.0.113.10", 10000 + i))
    except OSError:
        pass
open("flooded", "w").close()
wait("let-go")
P
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
seen=$(echo "$OUT" | grep -c 'addr 203.0.113.10  proto udp')
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
prlimit --nofile=200:200 "$WARDFS" run --policy "$HOME/pol" --session full -- python3 full.py >out 2>err &
run=$!
wait_until 120 test -e full || fail "not full: $(cat out err)"
broker=$(brokers "$run")
[ -n "$broker" ] || fail "no wardfs-net"
# A loop that never rests makes many thousands of system calls while it is looked at. Root alone may look.
if [ "$(id -u)" -eq 0 ]; then
	strace -qq -o calls -p "$broker" 2>strace.err &
	tracer=$!
	traced() { grep -q "^TracerPid:[[:space:]]*$tracer\$" "/proc/$broker/status"; }
	wait_until 60 traced || fail "not looked at: $(cat strace.err)"
	sleep 1
	kill "$tracer"
	wait "$tracer"
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
