#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# publish and forward, mode = host, and run --net, as root and as an ordinary user.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
echo inside >index.html

# A server inside, on its loopback alone, reached at the host's loopback by another number.
policy pol 'mode = allowlist' 'publish = 8081:3000'
"$WARDFS" run --policy pol --session served -- python3 -m http.server -b 127.0.0.1 3000 >out 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 60 curl -sf -o got http://127.0.0.1:8081/index.html || fail "not published: $(cat err)"
[ "$(cat got)" = inside ] || fail "published: $(cat got)"
[ "$(python3 n.py tcp 192.0.2.1 8081)" = ECONNREFUSED ] || fail "published beyond the loopback"
[ "$(python3 n.py tcp 127.0.0.1 3000)" = ECONNREFUSED ] || fail "the port inside is the host's"
# It leads in, not out, and nobody listens for it inside: neither at this end of the wire nor at the
# other.
cp "$WARD_SRC/tests/cases/network/lib/ports-out.py" out.py
policy other 'mode = allowlist' 'publish = 8082:3000' 'forward = 4001:8081'
expect 0 "$WARDFS" run --policy other -- sh -c 'python3 out.py; curl -sS --noproxy "*" --max-time 60 http://127.0.0.1:4001/index.html'
[ "$(echo "$OUT" | sort | uniq -c | tr -s ' ')" = " 6 ECONNREFUSED
 1 inside" ] || fail "ports lead elsewhere: $OUT"
# The port is taken: the next free one of this host's loopback leads in, and a line says so, as `ps`
# does.
next() { # SESSION STDERR: the port that leads to 3000 in it; nothing so far
	port=$("$WARDFS" ps --json | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    if s["session"] == sys.argv[1]:
        print(*[p["port"] for p in s.get("publish", []) if p["inside"] == 3000])' "$1")
	[ -n "$port" ] && grep -q "port 8081 of this host is in use: http://127.0.0.1:$port leads to port 3000 inside" "$2"
}
"$WARDFS" run --policy pol --session second -- python3 -m http.server -b 127.0.0.1 3000 >out2 2>err2 &
second=$!
trap 'kill $run $second 2>/dev/null || :' EXIT
wait_until 60 next second err2 || fail "no other port: $(cat err2)"
[ "$port" != 8081 ] || fail "one port for two sessions"
wait_until 60 curl -sf -o got2 "http://127.0.0.1:$port/index.html" || fail "not published at $port: $(cat err2)"
[ "$(python3 n.py tcp 192.0.2.1 "$port")" = ECONNREFUSED ] || fail "$port: published beyond the loopback"
"$WARDFS" ps second | grep -qx "    http://127.0.0.1:$port leads to port 3000 inside" || fail "$("$WARDFS" ps second)"
kill "$second"
expect 143 wait "$second"
# Two starts at once: bind(2) decides, and both say where.
policy same 'mode = allowlist' 'publish = 8071:3000'
for i in 1 2; do
	"$WARDFS" run --policy same --session "same$i" -- python3 -m http.server -b 127.0.0.1 3000 >"same$i" 2>&1 &
	eval "same_$i=\$!"
done
trap 'kill $run $same_1 $same_2 2>/dev/null || :' EXIT
wait_until 60 curl -sf -o got2 http://127.0.0.1:8071/index.html || fail "neither of two: $(cat same1 same2)"
other() { cat same1 same2 | grep -q 'port 8071 of this host is in use: http://127.0.0.1:'; }
wait_until 60 other || fail "one port for two: $(cat same1 same2)"
kill "$same_1" "$same_2"
expect 143 wait "$same_1"
expect 143 wait "$same_2"
# For one run, and from now on.
expect 2 "$WARDFS" run --publish 3000/tcp -- true
has "$ERR" "--publish '3000/tcp': write PORT"
# A privileged port, in a network that has such (the control: the next one is given).
if [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" -gt 80 ]; then
	expect 125 "$WARDFS" run --publish 80:3000 -- true
	has "$ERR" "port 80 of this host is privileged, and sessions cannot use it; fix: publish = 8000:3000"
fi
"$WARDFS" run --publish 8061:3000 --session once -- python3 -m http.server -b 127.0.0.1 3000 >once 2>&1 &
once=$!
trap 'kill $run $once 2>/dev/null || :' EXIT
wait_until 60 curl -sf -o got2 http://127.0.0.1:8061/index.html || fail "--publish: $(cat once)"
kill "$once"
expect 143 wait "$once"
# The address is one line for who typed the port; what the policy publishes it knows already.
[ "$(grep -cx 'wardfs: http://127.0.0.1:8061 leads to port 3000 inside' once)" = 1 ] || fail "$(cat once)"
grep -q 'leads to port' err && fail "a port of the policy is told: $(cat err)"
expect 0 "$WARDFS" policy add publish 8061
has "$OUT" '[network] publish = 8061'
expect 0 "$WARDFS" run --dry-run --json -- true
has "$OUT" '8061'
kill "$run"
expect 143 wait "$run"
run=
expect 0 "$WARDFS" audit show served --kind connect
has "$OUT" 'publish = 8081:3000'
# Incoming data is not counted as sent; the control is the session that asked a port of the host.
expect 0 "$WARDFS" audit network served
echo "$OUT" | grep -q '^served  *allowed  *in  .* 127.0.0.1:3000 tcp' || fail "what came in: $OUT"
! echo "$OUT" | grep -q '^served  *allowed  *out' || fail "nothing left: $OUT"
expect 0 "$WARDFS" audit network
echo "$OUT" | grep -q '^served  *allowed  *in  ' || fail "by the index: $OUT"
echo "$OUT" | grep -q ' allowed  *out  ' || fail "control: $OUT"
expect 0 "$WARDFS" audit report --format md served
has "$OUT" '| allowed | in |'
expect 0 "$WARDFS" audit export --format ocsf served
has "$OUT" '"direction_id":1'

# A server of the host's loopback, inside at localhost; its neighbour is not.
echo outside >"$HOME/index.html"
python3 -m http.server -b 127.0.0.1 -d "$HOME" 11434 >out 2>err &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
wait_until 60 curl -sf -o got http://127.0.0.1:11434/index.html || fail "control: no server"
policy pol 'mode = allowlist' 'forward = 11434' 'forward = 9999:11434'
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://localhost:11434/index.html
[ "$OUT" = outside ] || fail "forwarded: $OUT"
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://127.0.0.1:9999/index.html
[ "$OUT" = outside ] || fail "forwarded to another number: $OUT"
expect 0 "$WARDFS" audit show --kind connect
has "$OUT" 'forward = 9999:11434'
# The command that explain prints works, and then explain says so: for the project, and for one run.
expect 1 "$WARDFS" policy explain connect localhost:11434
has "$OUT" "this address is the session itself"
expect 2 "$WARDFS" policy add allow localhost:11434
has "$ERR" "'wardfs policy add forward PORT'"
for to in localhost:11434 127.0.0.1:11434 '[::1]:11434'; do
	expect 1 "$WARDFS" policy explain connect "$to"
	has "$OUT" "to permit it: wardfs policy add forward 11434, for this project; wardfs run --forward 11434,"
done
expect 0 "$WARDFS" run --forward 9998:11434 -- curl -sS --noproxy '*' --max-time 60 http://localhost:9998/index.html
[ "$OUT" = outside ] || fail "--forward: $OUT"
# A command that failed after it reached that server is not told that it did not; the control: no
# server is there.
reached='curl -sS -o /dev/null --noproxy "*" --max-time 60 "http://127.0.0.1:$1/nothing"; exit 3'
expect 3 "$WARDFS" run --forward 11434 -- sh -c "$reached" sh 11434
hasnt "$ERR" "could not make a connection"
expect 3 "$WARDFS" run --forward 9997 -- sh -c "$reached" sh 9997
has "$ERR" "could not make a connection that the policy allows: "
has "$ERR" "9997: nobody listens there"
expect 2 "$WARDFS" run --forward 9998/tcp -- true
has "$ERR" "--forward '9998/tcp': write PORT"
expect 7 "$WARDFS" run -- curl -sS --noproxy '*' --max-time 60 http://localhost:11434/index.html
expect 0 "$WARDFS" policy add forward 11434
expect 0 "$WARDFS" policy explain connect localhost:11434
has "$OUT" "[network] forward = 11434"
expect 0 "$WARDFS" run -- curl -sS --noproxy '*' --max-time 60 http://localhost:11434/index.html
[ "$OUT" = outside ] || fail "policy add forward: $OUT"
# control: a neighbour of the port, and another host, are not led in
expect 1 "$WARDFS" policy explain connect localhost:11435
expect 1 "$WARDFS" policy explain connect other.example:11434
has "$OUT" "policy add allow other.example:11434"
expect 0 "$WARDFS" policy remove forward 11434
expect 1 "$WARDFS" policy explain connect localhost:11434
policy pol 'mode = allowlist' 'forward = 9999'
expect 1 "$WARDFS" run --policy pol -- python3 n.py tcp 127.0.0.1 11434
[ "$OUT" = ECONNREFUSED ] || fail "not forwarded: $OUT"
expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange 127.0.0.1 9999 00
[ "$OUT" = ECONNRESET ] || [ "$OUT" = ENOTCONN ] || fail "nobody there: $OUT"

# For one run.
policy pol 'mode = none'
expect 6 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://web.example/
expect 0 "$WARDFS" run --policy pol --net web.example -- curl -sS --noproxy '*' --max-time 60 http://web.example/
has "$OUT" 'hello from web.example'
expect 6 "$WARDFS" run --policy pol --net web.example -- curl -sS --noproxy '*' --max-time 60 http://other.example/
expect 2 "$WARDFS" run --policy pol --net 'web.example:99999' -- true
expect 2 "$WARDFS" run --policy pol --net 'web.example:0' -- true

# The host's own network, loudly.
policy pol 'mode = host'
expect 0 "$WARDFS" run --policy pol -- curl -sS --noproxy '*' --max-time 60 http://127.0.0.1:11434/index.html http://web.example/
has "$OUT" outside
has "$OUT" 'hello from web.example'
has "$ERR" 'mode = host: the command uses the network of this host'
# Not for whom little is trusted; the control: allowlist is.
sed -i 's/^version.*/&\ntrust = low/' pol
expect 2 "$WARDFS" run --policy pol -- true
has "$ERR" 'does not allow mode = host'
sed -i 's/= host/= allowlist/' pol
expect 0 "$WARDFS" policy check pol
expect 0 "$WARDFS" audit verify
exit 0
S
in_host_both "$WARD_TMP/check.sh"
