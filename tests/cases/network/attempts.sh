#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same attempts on the host, where each succeeds, and inside, where each is refused, as root
# and as an ordinary user. They go around names and ports: other forms of an address, other
# protocols, broadcast and multicast, IP and TCP options, another network, and names that are
# hidden elsewhere.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/attempts.py" attempts.py
cp "$WARD_SRC/tests/cases/network/lib/attempts-server.py" server.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/attempts.py" .
python3 "$TOP/server.py" &
server=$!
trap 'kill $server || :' EXIT
wait_until 60 test -e serving || fail "no server"
# The results: on the host, with an allowlist, with no network at all.
cat >want <<'W'
address connected ECONNREFUSED ENETUNREACH
mapped connected ECONNREFUSED ENETUNREACH
nat64 connected ECONNREFUSED ENETUNREACH
6to4 connected ECONNREFUSED ENETUNREACH
zone connected ECONNREFUSED ENETUNREACH
metadata connected ECONNREFUSED ENETUNREACH
metadata6 connected ECONNREFUSED ENETUNREACH
any connected ECONNREFUSED ECONNREFUSED
any6 connected ECONNREFUSED ECONNREFUSED
loopback6 connected ECONNREFUSED ECONNREFUSED
own connected ECONNREFUSED ENETUNREACH
bound connected ECONNREFUSED -
fast-open HTTP/1.1_200 ECONNREFUSED ENETUNREACH
source-route connected EPERM EPERM
quic udp: ECONNREFUSED ENETUNREACH
udp-dns answered ECONNREFUSED ENETUNREACH
icmp echoed EACCES EACCES
mdns sent sent sent
llmnr sent sent sent
ssdp sent sent sent
broadcast sent sent ENETUNREACH
socket-in-tree host ECONNREFUSED ECONNREFUSED
self connected connected connected
self6 connected connected connected
packet made EAFNOSUPPORT EAFNOSUPPORT
raw made EPERM EPERM
raw6 made EPERM EPERM
vsock made EAFNOSUPPORT EAFNOSUPPORT
alg made EAFNOSUPPORT EAFNOSUPPORT
netfilter made EAFNOSUPPORT EAFNOSUPPORT
xfrm made EAFNOSUPPORT EAFNOSUPPORT
tun made ENOENT ENOENT
route-add done failed failed
route6-add done failed failed
address-add done failed failed
neighbour done failed failed
rule-add done failed failed
link-add done failed failed
namespace done failed failed
route done failed failed
http2 <!DOCTYPE_HT ECONNRESET no-name
http-url HTTP/1.1_200 ECONNRESET no-name
http-folded HTTP/1.1_200 ECONNRESET no-name
http-twice HTTP/1.1_200 ECONNRESET no-name
tls-none shaken ECONNRESET no-name
tls-other shaken ECONNRESET no-name
tls-bytewise shaken ECONNRESET no-name
tls-records shaken ECONNRESET no-name
tls-two TLS_TLSV1_ALERT_DECODE_ERROR ECONNRESET no-name
good-upper shaken shaken no-name
good-bytewise shaken shaken no-name
good-records shaken shaken no-name
W
# Of an ordinary user the host wants a capability for routes in packets.
[ "$(id -u)" -eq 0 ] || sed -i 's/^source-route connected/source-route EPERM/' want
# no_control WHAT: on the host it is what it is.
no_control() {
	got=$(grep "^$1 " out.txt | cut -d' ' -f2)
	sed -i "s/^$1 [^ ]*/$1 $got/" want
}
# came COLUMN FILE
came() {
	sed 's/ /_/2g' "$2" >got
	cut -d' ' -f"1,$1" want | diff - got >&2 || fail "not what is to come of it ($2; < wanted)"
}
: >"$NET/log"
python3 attempts.py out >out.txt 2>err || fail "control: $(cat out.txt err)"
# The control of these is root's run; and what a kernel may lack, it lacks outside, too.
[ "$(id -u)" -eq 0 ] ||
	for what in packet raw raw6 tun route-add route6-add address-add neighbour rule-add link-add; do no_control "$what"; done
for what in $(sed -n -E 's/^(vsock|alg|xfrm|netfilter|tun) (EAFNOSUPPORT|EPROTONOSUPPORT|ENOENT)$/\1/p' out.txt); do
	echo "no control for $what: this kernel has none"
	no_control "$what"
done
came 2 out.txt
for port in 5353 5355 1900 9999; do
	wait_until 60 grep -q "heard $port out" "$NET/log" || fail "control: nobody heard port $port"
done
policy pol 'mode = allowlist' 'allow = web.example'
: >"$NET/log"
"$WARDFS" run --session attempts --policy pol -- python3 attempts.py in >in.txt 2>err || fail "$(cat in.txt err)"
came 3 in.txt
policy pol 'mode = none'
"$WARDFS" run --session none --policy pol -- python3 attempts.py in >none.txt 2>err || fail "$(cat none.txt err)"
came 4 none.txt
# Nothing of it has arrived but what was to: the good handshakes, and the names of these.
if grep -v -e '^dns web.example ' -e '^tls WEB.eXample$' -e '^tls web.example$' "$NET/log"; then
	fail "arrived outside"
fi
[ "$(grep -c '^tls' "$NET/log")" -eq 3 ] || fail "handshakes: $(cat "$NET/log")"
expect 0 "$WARDFS" audit show attempts --kind deny
for what in 'URL of an HTTP request' 'without a server name' 'server name in TLS' \
	'addr 203.0.113.10  proto udp  port 443' 'addr 64:ff9b::cb00:710a' 'addr 2002:cb00:710a::1' 'addr fd00:ec2::254' \
	'a TLS ClientHello that is malformed' 'malformed or ambiguous'; do
	has "$OUT" "$what"
done
expect 0 "$WARDFS" audit show attempts --kind connect
[ "$(echo "$OUT" | grep -ci 'sni web.example  port 443  sent')" -eq 3 ] || fail "the name in TLS is not in the records: $OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
