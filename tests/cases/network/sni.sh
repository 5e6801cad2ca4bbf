#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ways around sni = require. For each, a server reads the other name, or none, when nobody checks
# (sni = off): methods of any length, lines that CR alone ends, requests without a version,
# Python's blanks, lines that end with the stream, requests in a body that the server does not
# read or behind a trailer, a last dot or another port behind the name, early data between two
# ClientHellos, ClientHellos in SSLv2's format.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
lib=$WARD_SRC/tests/cases/network/lib
cp "$WARD_SRC/tests/support/hellos.py" .
cp "$lib/sni-around.py" around.py
cp "$lib/sni-half.py" half.py
reached='eager /method other.example
eager /later other.example
eager /cr other.example
http other.example /version
http other.example /blanks
http None /end
http other.example /body
trailer /trailer other.example
http web.example. /dot
http web.example:9999 /port
http web.example http://web.example:9999/url
tls other.example
tls Other.EXAMPLE
tls None'

echo '--- the control: nobody looks'
policy "$HOME/off" 'mode = allowlist' 'allow = web.example:80,443,8080,8082' 'sni = off'
: >"$NET/log"
expect 0 "$WARDFS" run --policy "$HOME/off" -- python3 around.py
echo "$reached" | while read -r line; do
	wait_until 60 grep -qxF "$line" "$NET/log" || fail "control: not reached: $line: $OUT $(cat "$NET/log")"
done || exit 1
has "$OUT" 'good ended'

echo '--- half a line, and then the broker is gone'
# half POLICY: $NET/log has what the server took from it
half() {
	rm -f sent
	: >"$NET/log"
	"$WARDFS" run --policy "$1" -- python3 half.py >out 2>err &
	run=$!
	trap 'kill $run 2>/dev/null' EXIT
	wait_until 60 test -e sent || fail "not sent: $(cat out err)"
	wait_until 60 arrived || fail "not arrived: $(cat out err)"
	kill -KILL "$(brokers "$run")"
	wait "$run" || :
	trap - EXIT
}
# The server's kernel has the nine bytes (and the SYN).
arrived() {
	ss -tnHi dst 203.0.113.10:80 | grep -q 'bytes_acked:10 '
}
half "$HOME/off"
wait_until 60 grep -qxF 'http None /half' "$NET/log" || fail "control: an end does not answer: $(cat "$NET/log" out err)"
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example:80,443,8080,8082' 'sni = require'
half "$HOME/pol"
# A request behind it is answered, so the server has seen the end of the other.
[ "$(curl -sS -H 'Host: web.example' http://203.0.113.10/after)" = 'hello from web.example' ] || fail "the server is gone"
! grep -q /half "$NET/log" || fail "answered: $(cat "$NET/log")"

echo '--- sni = require'
: >"$NET/log"
expect 0 "$WARDFS" run --policy "$HOME/pol" --session around -- python3 around.py
for way in method later cr version blanks end body trailer dot port url retry old mixed; do
	has "$OUT" "$way reset"
done
has "$OUT" 'good ended'
echo "$reached" | while read -r line; do
	! grep -qxF "$line" "$NET/log" || fail "reached: $line: $OUT"
done || exit 1
has "$OUT" 'same ended'
has "$OUT" 'trailed ended'
has "$OUT" 'upper ended'
grep -qxF 'http web.example:80 /same' "$NET/log" || fail "the port of the connection did not arrive: $(cat "$NET/log")"
grep -qxF 'tls WEB.Example' "$NET/log" || fail "a name in capitals did not arrive: $(cat "$NET/log")"
grep -qxF 'tls web.example' "$NET/log" || fail "the good one did not arrive: $(cat "$NET/log")"
expect 0 "$WARDFS" audit show around --kind deny
[ "$(echo "$OUT" | grep -c 'sni = require')" -eq 14 ] || fail "not 14 refusals: $OUT"
has "$OUT" 'body begins with another request'
has "$OUT" 'names another port'
has "$OUT" 'without a server name'
has "$OUT" 'server name in TLS is not the name'
S
in_host_both "$WARD_TMP/check.sh"
