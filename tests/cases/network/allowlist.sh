#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mode = allowlist, as root and as an ordinary user. Allowed hosts work for programs without proxy
# support. Other hosts are refused at once. The trail has both.
# shellcheck disable=SC2016
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v node >/dev/null || skip "no node"

# Inside, in one session.
cat >inside.sh <<'S'
set -eu
. ./says.sh
# Programs as they are, and with nothing said of a proxy.
unset http_proxy https_proxy all_proxy no_proxy NODE_USE_ENV_PROXY
says 'hello from web.example' fetch http://web.example/
says 'hello from web.example' fetch --cacert ca.crt https://web.example/
says 'hello from a.wild.example' fetch --cacert ca.crt https://a.wild.example/
says 'hello from six.example' fetch http://six.example/
says 'hello from web.example' wget -qO- http://web.example/
says 'hello from web.example' python3 -c 'import urllib.request as u; print(u.urlopen("http://web.example/").read().decode().strip())'
says 'hello from web.example' node -e 'require("http").get("http://web.example/", r => r.pipe(process.stdout))'
says 'hello from cdn.example' fetch http://cdn.example/
says 'hello from hosts.example' fetch http://hosts.example/
says SERVER-FIRST python3 n.py first echo.example 3000
says one sh -c 'git clone -q http://web.example/www/r.git c && git -C c log --format=%s'

# Everything of one's own stays: names of it, and every port, also one that is allowed outside.
says own python3 n.py listen 3000
says own python3 n.py listen 8080
says '127.0.0.1       localhost wardfs' getent hosts wardfs

# Refused at once.
says ECONNREFUSED python3 n.py tcp 203.0.113.10 80
says ECONNREFUSED python3 n.py tcp 203.0.113.10 443
says ECONNREFUSED python3 n.py tcp 2001:db8:113::10 80
says ECONNREFUSED python3 n.py tcp web.example 3000
says ECONNREFUSED python3 n.py tcp web.example 0
says ECONNREFUSED python3 n.py udp 203.0.113.10 5000
says ECONNREFUSED python3 n.py udp web.example 443
says ECONNREFUSED python3 n.py udp 203.0.113.53 53
says ECONNREFUSED python3 n.py tcp 169.254.169.254 80
says ECONNREFUSED python3 n.py tcp fd00:ec2::254 80
says ECONNREFUSED python3 n.py tcp 192.0.2.1 80
says ECONNREFUSED python3 n.py tcp 10.9.8.7 80
says NONAME python3 n.py tcp other.example 80
says NONAME python3 n.py tcp wild.example 80
# The host's own loopback, by any name.
says ECONNREFUSED python3 n.py tcp 127.0.0.1 4000
says ECONNREFUSED python3 n.py tcp 192.0.2.1 4000

# The wire itself is not the agent's to change; controls of the sockets: escape/network.sh.
says 2 sh -c 'ip route add 203.0.113.0/24 via 198.18.0.1 2>/dev/null; echo $?'
says 2 sh -c 'ip link set eth0 down 2>/dev/null; echo $?'
says 2 sh -c 'ip addr add 198.18.0.9/32 dev eth0 2>/dev/null; echo $?'
says EPERM python3 -c 'import socket, errno
try: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
except OSError as e: print(errno.errorcode[e.errno])'
says EAFNOSUPPORT python3 -c 'import socket, errno
try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
except OSError as e: print(errno.errorcode[e.errno])'
says EACCES python3 -c 'import socket, errno
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)
except OSError as e: print(errno.errorcode[e.errno])'

# Names that lead where they must not.
for name in meta meta6 near loop mapped nat64 sixtofour private alias; do
	says ECONNRESET python3 n.py exchange $name.example 80 00
done

# Nothing is asked outside that was not decided.
says '3 0' python3 n.py dns A secret.other.example
says '3 0' python3 n.py dns TXT secret.other.example
says '0 0' python3 n.py dns TXT web.example
says '0 0' python3 n.py dns HTTPS web.example
says '0 0' python3 n.py dns ANY quiet.example
says '0 1' python3 n.py dns A quiet.example
says '0 1' python3 n.py dns A qUIet.eXample
says '0 1' python3 n.py dns AAAA quiet.example tcp
says '3 0' python3 n.py dns A 'web\000.example'
says '3 0' python3 n.py dns A 'web\046example'
says '3 0' python3 n.py dns A 'web.example\010'
says '3 0' python3 n.py dns A 'xn--web-.example'
says nothing python3 n.py dnsraw 0007
says 8581 python3 n.py dnsraw 0007010000020000000000000377656207657861
# Names that point into the message, at themselves and at its head; what follows the question; a
# message that is no question; EDNS with an option (the control).
web=03776562076578616d706c6500
says 8581 python3 n.py dnsraw 000701000001000000000000c00c00010001
says 8581 python3 n.py dnsraw 00070100000100000000000003776562c00200010001
says 8581 python3 n.py dnsraw 000701000001000000000000${web}00010001deadbeef
says 8581 python3 n.py dnsraw 000701000002000000000000${web}00010001${web}00010001
says 8584 python3 n.py dnsraw 000729000001000000000000${web}00010001
says nothing python3 n.py dnsraw 000781000001000000000000${web}00010001
says 8580 python3 n.py dnsraw 000701000001000000000001${web}00010001000029100000000000000c000800080001200020010db8
# Over TCP: two at once, one that says it is empty, one longer than any question, one that ends
# early.
one=001d000701000001000000000000${web}00010001
says '8580 8580' python3 n.py dnstcp $one$one
says nothing python3 n.py dnstcp 0000
says nothing python3 n.py dnstcp ffff$one
says nothing python3 n.py dnstcp 001d0007
says '8580' python3 n.py dnstcp ${one}001d0007

# The data must agree with the name.
says ECONNRESET sh -c 'curl -sS --max-time 60 -H "Host: other.example" http://web.example/ 2>&1 | grep -q reset && echo ECONNRESET'
says ECONNRESET sh -c 'curl -sS -k --connect-to other.example:443:web.example:443 https://other.example/ 2>&1 | grep -q reset && echo ECONNRESET'
says NO sh -c 'curl -sSL --max-time 60 http://web.example/redirect >out 2>&1 && echo YES || echo NO'
says 7 sh -c 'curl -sSL --max-time 60 http://web.example/redirect >out 2>&1; echo $?'
python3 n.py exchange web.example 80 \
	474554202f61626320485454502f312e310d0a486f73743a207765622e6578616d706c650d0a436f6e6e656374696f6e3a20636c6f73650d0a0d0a
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_repository
net_project
cp "$TOP/inside.sh" .
policy pol 'mode = allowlist' 'allow = web.example' 'allow = six.example' 'allow = *.wild.example' \
	'allow = echo.example:3000' 'allow = meta.example' 'allow = meta6.example' 'allow = near.example' \
	'allow = loop.example' 'allow = mapped.example' 'allow = nat64.example' 'allow = sixtofour.example' 'allow = private.example' 'allow = alias.example' \
	'allow = cdn.example' 'allow = quiet.example' 'allow = hosts.example' 'deny = evil.example'

# outside WANT CMD...: the control: on the host it works.
outside() {
	want=$1
	shift
	got=$("$@") || :
	[ "$got" = "$want" ] || fail "control: '$got' instead of '$want': $*"
}
outside connected python3 n.py tcp 203.0.113.10 80
outside connected python3 n.py tcp 2001:db8:113::10 80
outside connected python3 n.py tcp web.example 3000
outside udp:x python3 n.py udp 203.0.113.10 5000
outside connected python3 n.py tcp other.example 80
outside connected python3 n.py tcp private.example 80
outside 'hello from alias.example' curl -sS --max-time 60 http://alias.example/
outside 'hello from other.example' curl -sS -k --connect-to other.example:443:web.example:443 https://other.example/
for name in meta meta6 nat64 sixtofour; do
	outside "hello from $name.example" curl -sS --max-time 60 "http://$name.example/"
done
outside 'hello from 169.254.169.254' curl -sSL --max-time 60 http://web.example/redirect
python3 -c 'import socket,time
s=socket.socket(); s.bind(("0.0.0.0",4000)); s.listen(); time.sleep(600)' &
own=$!
trap 'kill $own || :' EXIT
wait_until 60 python3 n.py tcp 127.0.0.1 4000 || fail "control: no server on the host's loopback"
outside connected python3 n.py tcp near.example 4000
outside connected python3 n.py tcp loop.example 4000

: >"$NET/log"
expect 0 "$WARDFS" run --policy pol -- sh inside.sh
has "$OUT" 'hello from web.example'
for name in meta meta6 near loop mapped nat64 sixtofour private; do
	grep -q "dns $name.example" "$NET/log" || fail "control: $name.example was never looked up"
done
grep -q "http web.example /redirect" "$NET/log" || fail "control: no redirect was asked for"
for text in secret quiet web- 'dns .*000' 'dns other.example' 'dns wild.example' ' 16$' ' 65$' ' 255$'; do
	! grep -q -e "$text" "$NET/log" || fail "asked outside: $(grep -e "$text" "$NET/log")"
done

# All of it is in the trail, for the right reason.
"$WARDFS" audit show >.shown || fail "no trail"
"$WARDFS" audit show --json --kind dns >.json.dns || fail "no trail"
recorded() {
	grep -q -e "$1" .shown || fail "not recorded: $1: $(cat .shown)"
}
for name in meta meta6 near loop mapped nat64 sixtofour private; do
	recorded "deny .*connect.*host $name.example .*not be reached"
done
recorded 'deny .*deny = evil.example.*host alias.example.*alias of one that is denied'
recorded 'deny .*resolve .*host secret.other.example'
recorded 'deny .*connect .*ECONNREFUSED.*addr 203.0.113.10 .*port 80'
recorded 'deny .*connect .*ECONNREFUSED.*addr 169.254.169.254 .*port 80'
recorded 'deny .*connect .*ECONNREFUSED.*addr 2001:db8:113::10 .*port 80'
recorded 'deny .*connect .*ECONNREFUSED.*addr 203.0.113.53 .*proto udp .*port 53'
recorded 'deny .*connect .*ECONNREFUSED.*host web.example .*port 3000'
recorded 'deny .*sni = require.*sni other.example .*server name in TLS'
recorded 'deny .*sni = require.*sni other.example .*host of an HTTP request'
recorded 'connect .*allow = web.example\].*host web.example  addr 203.0.113.10  proto tcp  port 80'
recorded 'connect .*host web.example .*sent 59  received 135'
recorded 'connect .*host web.example  addr 203.0.113.10  proto tcp  sni web.example  port 443  sent'
recorded 'dns .*allow = \*.wild.example\].*host a.wild.example'
grep -qE '"kind":"dns".*"host":"a.wild.example".*"answers":\["198\.1[89]\.[0-9.]+"' .json.dns ||
	fail "a question without its answers"
# The records name the process that asked: a connection, a name.
"$WARDFS" audit show --json >.json || fail "no trail"
python3 "$WARD_SRC/tests/cases/network/lib/allowlist-asked.py" || fail "who asked is not in the trail"
expect 1 "$WARDFS" run --policy pol -- python3 n.py tcp 203.0.113.10 80
has "$ERR" '1 refused: connect 203.0.113.10:80 ('
expect 0 "$WARDFS" audit verify
exit 0
S
in_host_both "$WARD_TMP/check.sh"
