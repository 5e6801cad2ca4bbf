#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As root and as an ordinary user: named UDP ports; limits on upload, rate and connections; and a
# broker that dies.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
python3 -c 'print("x" * 300000)' >big

# UDP by name, and to a block; without /udp: allowlist.sh.
policy pol 'mode = allowlist' 'allow = web.example:5000/udp' 'allow = 203.0.113.8/29:5001,5000/udp'
expect 0 "$WARDFS" run --policy pol -- python3 n.py udp web.example 5000
[ "$OUT" = udp:x ] || fail "udp: $OUT"
expect 0 "$WARDFS" run --policy pol -- python3 n.py udp 203.0.113.10 5000
[ "$OUT" = udp:x ] || fail "udp to a block: $OUT"
expect 0 "$WARDFS" audit show
has "$OUT" 'addr 203.0.113.10  proto udp  port 5000'
has "$OUT" 'sent 1  received 5'
echo "$OUT" | grep 'proto udp' | grep -q 'python3\[' || fail "who sent it: $OUT"
expect 1 "$WARDFS" run --policy pol -- sh -c 'python3 n.py tcp web.example 5000'
[ "$OUT" = ECONNREFUSED ] || fail "tcp beside udp: $OUT"

# "*" is every public address, but for the networks that this host is in, whatever their numbers:
# UDP and TCP alike. The first packets are decided first.
policy pol 'mode = allowlist' 'allow = *:5000/udp' 'allow = *:5000'
expect 0 "$WARDFS" run --policy pol -- sh -c 'python3 n.py tcp 192.0.2.2 5000
	python3 -c "import socket; socket.socket(2, 2).sendto(b\"x\", (\"192.0.2.2\", 5000))"
	python3 n.py udp 203.0.113.10 5000'
has "$OUT" udp:x
expect 0 "$WARDFS" audit show --kind deny
has "$OUT" 'addr 192.0.2.2  proto tcp  port 5000'
has "$OUT" 'addr 192.0.2.2  proto udp  port 5000'

# Nor is a cloud's metadata, which answers here. The first is the control.
for address in 169.254.169.254 '[fd00:ec2::254]'; do
	expect 0 curl -sS --max-time 60 "http://$address/"
	has "$OUT" "hello from $address"
	policy pol 'mode = allowlist' "allow = $address:80"
	expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 "http://$address/"
	has "$OUT" "hello from $address"
	policy pol 'mode = allowlist' 'allow = *'
	"$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 "http://$address/" >out 2>err &&
		fail "the metadata service: $(cat out)"
	has "$(cat err)" "refused: connect $address:80"
done

# The profile that trusts most has the network, and no network that this host is in; medium is the
# control.
expect 0 "$WARDFS" run --policy high -- curl -sS --noproxy '*' --max-time 60 http://web.example/
has "$OUT" 'hello from'
expect 0 "$WARDFS" run --policy high -- curl -sS --noproxy '*' --max-time 60 http://203.0.113.10/
has "$OUT" 'hello from 203.0.113.10'
for host in 192.0.2.2:5000 10.9.8.7 private.example; do
	"$WARDFS" run --policy high -- curl -sS --noproxy '*' --max-time 60 "http://$host/" >out 2>err &&
		fail "high reaches $host: $(cat out)"
	has "$(cat err)" "refused: connect ${host%:5000}:"
done
"$WARDFS" run --policy medium -- curl -sS --noproxy '*' --max-time 60 http://web.example/ >out 2>err &&
	fail "medium has a network: $(cat out)"

# A block of addresses over TCP; beside it nothing.
policy pol 'mode = allowlist' 'allow = 203.0.113.8/31:80' 'allow = 203.0.113.10/32'
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://203.0.113.10/
has "$OUT" 'hello from 203.0.113.10'
expect 0 curl -sS --noproxy '*' --max-time 60 http://203.0.113.11/
# Accepted and reset, or reset while curl still looks at it.
"$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://203.0.113.11/ >out 2>err && fail "beside the block: $(cat out)"
has "$(cat err)" 'refused: connect 203.0.113.11:80'
# An address that is not public is reached where it is named.
policy pol 'mode = allowlist' 'allow = 10.9.0.0/16' 'allow = private.example' 'allow = near.example'
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://10.9.8.7/
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://private.example/
has "$OUT" 'hello from private.example'

# A session may send so much in all.
policy pol 'mode = allowlist' 'allow = web.example' 'upload = 400K'
: >"$NET/log"
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 --data-binary @big http://web.example/
grep -q 'post 300001' "$NET/log" || fail "control: nothing was posted: $(cat "$NET/log")"
: >"$NET/log"
"$WARDFS" run --policy pol -- sh -c 'for i in 1 2; do
	curl -sS --noproxy "*" --max-time 60 --data-binary @big http://web.example/; done' >out 2>err && fail "no end of uploading"
[ "$(grep -c 'post 300001' "$NET/log")" = 1 ] || fail "posted: $(cat "$NET/log")"
expect 0 "$WARDFS" audit show --kind deny
has "$OUT" 'upload budget'

# To the byte, the name that was looked up with them, and where nobody looks at the bytes (no TLS,
# no HTTP): much, both ways, whole and counted.
cp "$WARD_SRC/tests/cases/network/lib/limits-much.py" much.py
policy pol 'mode = allowlist' 'allow = echo.example:3000' 'upload = 40000012'
expect 0 "$WARDFS" run --session much --policy pol -- python3 much.py 40000000
[ "$OUT" = True ] || fail "much: $OUT $ERR"
expect 0 "$WARDFS" audit show much --kind connect
has "$OUT" 'sent 40000000  received 40000013'
expect 0 "$WARDFS" run --session more --policy pol -- python3 much.py 40000001
has "$OUT" 'ended Connection reset'
expect 0 "$WARDFS" audit show more
has "$OUT" 'upload budget'

# Names that are looked up outside say something too: the labels of a wildcard are the agent's to
# choose.
policy pol 'mode = allowlist' 'allow = *.wild.example' 'upload = 1K'
: >"$NET/log"
expect 0 "$WARDFS" run --session labels --policy pol -- python3 -c "$(cat "$WARD_SRC/tests/cases/network/lib/limits-labels.py")"
asked=$(grep -o 'dns [0-9]*s*.wild.example' "$NET/log" | sort -u | wc -l)
[ "$asked" -ge 5 ] || fail "control: $asked names were looked up: $(cat "$NET/log")"
[ "$asked" -le 13 ] || fail "$asked names were looked up: more than 1 KiB of them"
expect 0 "$WARDFS" audit show labels --kind deny
has "$OUT" 'upload budget'

# Connections at once to one destination.
policy pol 'mode = allowlist' 'allow = echo.example:3000' 'connections = 3'
expect 0 "$WARDFS" run --policy pol -- python3 -c "$(cat "$WARD_SRC/tests/cases/network/lib/limits-connections.py")"
[ "$OUT" = "refused
again" ] || fail "connections: $OUT"

# A rate: all arrives, and the last byte not before its time: two seconds of bytes, of which less
# than one may be ahead.
policy pol 'mode = allowlist' 'allow = web.example' 'rate = 200K/s'
expect 0 "$WARDFS" run --policy pol -- sh -c 'curl -sS --noproxy "*" --max-time 100 http://web.example/bytes/400000 | wc -c'
[ "$OUT" = 400000 ] || fail "rate: $OUT"
"$WARDFS" audit show | sed -n 's/.*received 400[0-9]* .*duration \([0-9]*\)[0-9.]* s.*/\1/p' >took
[ "$(cat took)" -ge 1 ] || fail "rate: 400000 bytes took $(cat took) s"

# A process of the broker's dies, each of them once, with a connection open: everything inside ends,
# the session says why, and nothing is left: no process, and nobody who holds one of its network
# namespaces.
held() {
	find /proc/[0-9]*/ns/net /proc/[0-9]*/fd -type l -printf '%l %p\n' 2>/dev/null | grep -F "$1 "
}
held_not() {
	[ -z "$(held "$1")" ]
}
all_gone() {
	for p in $everybody; do
		gone "$p" || return 1
	done
}
cp "$WARD_SRC/tests/cases/network/lib/limits-open.py" open.py
run=
trap 'kill $run 2>/dev/null || :' EXIT
mkdir "$HOME/led"
policy pol 'mode = allowlist' 'allow = echo.example:3000' "socket = $HOME/led/late.sock"
for which in 0 1 2 3 4; do
	mark=9$which$$7
	rm -f here
	"$WARDFS" run --policy pol --session "victim$which" -- python3 open.py "$mark" 2>err &
	run=$!
	wait_until 60 test -e here || fail "not started: $(cat err)"
	wait_until 60 running "$mark" || fail "control: the agent does not run"
	broker=$(brokers $run)
	children=$(brokers "$broker")
	# Two make sockets, one looks who asks, one connects to unix sockets.
	[ "$(echo "$children" | wc -l)" = 4 ] || fail "the broker's processes: $broker: $children"
	everybody="$broker $children $(below $run)"
	spaces=
	for p in $everybody; do
		# Whose they are, root alone can see.
		n=$(readlink "/proc/$p/ns/net" 2>/dev/null) || continue
		[ "$n" = "$(readlink /proc/self/ns/net)" ] || spaces="$spaces $n"
	done
	[ "$(id -u)" -ne 0 ] || [ "$(echo "$spaces" | tr ' ' '\n' | sort -u | grep -c net)" = 2 ] ||
		fail "namespaces: $spaces"
	for n in $spaces; do
		[ -n "$(held "$n")" ] || fail "control: nobody holds $n"
	done
	# shellcheck disable=SC2086 # words
	set -- $broker $children
	shift $which
	kill -9 "$1"
	wait_until 60 ended "$mark" || fail "agent processes are left"
	wait "$run" && rc=0 || rc=$?
	run=
	[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
	has "$(cat err)" 'wardfs-net died; the session was ended'
	wait_until 60 all_gone || fail "processes are left: $everybody"
	for n in $spaces; do
		wait_until 60 held_not "$n" || fail "a namespace is left: $(held "$n")"
	done
	expect 1 "$WARDFS" audit verify "victim$which"
	has "$OUT" 'incomplete: wardfs-net died'
done
exit 0
S
in_host_both "$WARD_TMP/check.sh"
