#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where a name leads, and what else leads to this host, as root and as an ordinary user: search
# domains of the host, more addresses than an answer mostly has, 0.0.0.0 and ::.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/answers-front.py" front.py
cp "$WARD_SRC/tests/cases/network/lib/answers-server.py" server.py
# A cluster's resolv.conf: what has fewer dots than ndots is looked for in the search domains first.
cat >servers.sh <<'S'
printf 'nameserver 203.0.113.53\nsearch search.example\noptions ndots:5\n' >"$NET/resolv.conf"
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/front.py" "$TOP/server.py" .

echo '--- search domains'
echo '*.search.example 203.0.113.66' >>"$NET/zone"
python3 -c 'import socket; print(socket.gethostbyname("web.example"))' >found
[ "$(cat found)" = 203.0.113.66 ] || fail "control: this host does not search: $(cat found)"
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example:3000' 'deny = *.search.example'
: >"$NET/log"
expect 0 "$WARDFS" run --policy "$HOME/pol" --session search -- python3 n.py first web.example 3000
expect 0 "$WARDFS" audit show search --kind connect
has "$OUT" 'addr 203.0.113.10'
grep -q '^dns web.example ' "$NET/log" || fail "not asked: $(cat "$NET/log")"
! grep search.example "$NET/log" || fail "asked for a name that is denied"
# One without a dot, and one that does not exist.
policy "$HOME/pol" 'mode = allowlist' 'allow = web:3000' 'allow = none.example:3000'
: >"$NET/log"
for name in web none.example; do
	expect 1 "$WARDFS" run --policy "$HOME/pol" -- python3 n.py first "$name" 3000
	[ "$OUT" = ECONNRESET ] || fail "$name: $OUT"
	grep -q "^dns $name " "$NET/log" || fail "not asked: $(cat "$NET/log")"
done
! grep search.example "$NET/log" || fail "asked for a name that is not allowed"

echo '--- many addresses'
good=203.0.113.10
for i in $(seq 101 119); do good="$good 203.0.113.$i"; done
echo "twenty.example $good
spoiled.example $good 10.9.8.7
crowd.example $good $good $good $good" >>"$NET/zone"
policy "$HOME/pol" 'mode = allowlist' 'allow = *.example:3000'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 n.py first twenty.example 3000
[ "$OUT" = SERVER-FIRST ] || fail "control: $OUT"
for name in spoiled crowd; do
	expect 1 "$WARDFS" run --policy "$HOME/pol" --session "$name" -- python3 n.py first $name.example 3000
	[ "$OUT" = ECONNRESET ] || fail "$name: $OUT"
done
expect 0 "$WARDFS" audit show spoiled --kind deny
has "$OUT" 'addr 10.9.8.7'
expect 0 "$WARDFS" audit show crowd
has "$OUT" 'has too many addresses'

echo '--- 0.0.0.0 and ::'
python3 server.py &
server=$!
trap 'kill $server || :' EXIT
wait_until 60 test -e serves || fail "no server on this host"
for a in 0.0.0.0 ::; do
	[ "$(python3 n.py first $a 3000)" = HOST ] || fail "control: $a does not lead to this host"
done
echo 'zero.example 0.0.0.0
zero6.example ::' >>"$NET/zone"
policy "$HOME/pol" 'mode = allowlist' 'allow = 0.0.0.0/0:3000' 'allow = [::/0]:3000' 'allow = *.example:3000'
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 front.py
[ "$OUT" = 'http 127.0.0.1 HOST
socks 127.0.0.1 HOST
http [::1] HOST
http 0.0.0.0 refused
socks 0.0.0.0 refused
http [::] refused
http [::ffff:0.0.0.0] refused
http zero.example refused
http zero6.example refused' ] || fail "all addresses are allowed: $OUT"
policy "$HOME/pol" 'mode = allowlist' 'allow = 0.0.0.0/0:3000' 'allow = [::/0]:3000' 'allow = *.example:3000' \
	'deny = 127.0.0.0/8' 'deny = [::1]'
expect 0 "$WARDFS" run --policy "$HOME/pol" --session zero -- python3 front.py
hasnt "$OUT" HOST
[ "$(echo "$OUT" | grep -c refused)" -eq 9 ] || fail "not 9 refusals: $OUT"
expect 0 "$WARDFS" audit show zero --kind deny
has "$OUT" '0.0.0.0 and :: are no destination'
S
in_host_both "$WARD_TMP/check.sh"
