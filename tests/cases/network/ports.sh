#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# publish and forward, mode = host, and run --net; as root and as an ordinary user.
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
# It leads in, not out, and nobody listens for it inside: neither at this end of the wire nor at the other.
cp "$WARD_SRC/tests/cases/network/lib/ports-out.py" out.py
policy other 'mode = allowlist' 'publish = 8082:3000' 'forward = 4001:8081'
expect 0 "$WARDFS" run --policy other -- sh -c 'python3 out.py; curl -sS --noproxy "*" --max-time 60 http://127.0.0.1:4001/index.html'
[ "$(echo "$OUT" | sort | uniq -c | tr -s ' ')" = " 6 ECONNREFUSED
 1 inside" ] || fail "ports lead elsewhere: $OUT"
# The port is taken: said by name.
expect 125 "$WARDFS" run --policy pol -- true
has "$ERR" 'publish = 8081:3000'
kill "$run"
expect 143 wait "$run"
run=
expect 0 "$WARDFS" audit show served --kind connect
has "$OUT" 'publish = 8081:3000'

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
has "$ERR" 'mode = host: the command has the network of this host'
# Not for whom little is trusted; the control: allowlist is.
sed -i 's/^version.*/&\ntrust = low/' pol
expect 2 "$WARDFS" run --policy pol -- true
has "$ERR" 'mode = host is not for trust = low'
sed -i 's/= host/= allowlist/' pol
expect 0 "$WARDFS" policy check pol
expect 0 "$WARDFS" audit verify
exit 0
S
in_host_both "$WARD_TMP/check.sh"
