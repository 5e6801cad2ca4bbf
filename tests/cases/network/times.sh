#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nothing waits for ever, as root and as an ordinary user: silent servers, endless hellos and
# heads, idle connections. No test here measures time: each waits for an end that would otherwise
# come after minutes or an hour.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/times.py" times.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/times.py" .
# Takes packets and answers none.
echo 'slow.example 203.0.113.99' >>"$NET/zone"
python3 "$WARD_SRC/tests/cases/network/lib/times-forwarded.py" >forwarded 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
wait_until 60 test -e listening || fail "no server: $(cat forwarded)"
policy pol 'mode = allowlist' 'allow = slow.example:3000' 'allow = web.example' 'allow = echo.example:3000' \
	'allow = echo.example:5000/udp' 'forward = 11434' 'connect-time = 5s' 'handshake-time = 5s' 'idle = 12s'
expect 0 "$WARDFS" run --session times --policy pol -- python3 times.py
[ "$OUT" = 'connect: ECONNRESET
hello: ECONNRESET
head: ECONNRESET
second head: ECONNRESET
proxy: closed
socks: closed
dns: closed
idle: ECONNRESET
idle tunnel: ECONNRESET
forwarded: closed
busy: went on
datagrams: twice' ] || fail "ends: $OUT $ERR"
wait "$server"
[ "$(cat forwarded)" = "ended b''" ] || fail "the server of a forwarded port: $(cat forwarded)"
expect 0 "$WARDFS" audit show times
has "$OUT" 'host slow.example  addr 203.0.113.99  proto tcp  port 3000  no connection could be made'
# Twice over port 80, once over 443.
[ "$(echo "$OUT" | grep -c 'deny .*\[network\] handshake-time.*host web.example')" -eq 3 ] || fail "held: $OUT"
[ "$(echo "$OUT" | grep -c 'host echo.example .*nothing moved for as long as')" -eq 2 ] || fail "idle: $OUT"
# The second datagram is another flow: the first one had ended.
[ "$(echo "$OUT" | grep -c 'host echo.example .*proto udp .*sent 1 .*received 5')" -eq 2 ] || fail "flows: $OUT"
expect 0 "$WARDFS" audit verify times
exit 0
S
in_host_both "$WARD_TMP/check.sh"
