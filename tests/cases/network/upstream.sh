#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mode = proxy, as root and as an ordinary user: everything leaves through one proxy, which
# resolves the names. A token tells the proxy which session asks. The proxies are Debian's
# tinyproxy, squid where it is installed, and a SOCKS5 server.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v tinyproxy >/dev/null || skip "no tinyproxy"

cat >inside.sh <<'S'
set -eu
. ./says.sh
says 'hello from web.example' fetch --proxy "$http_proxy" http://web.example/
says 403 fetch -o /dev/null -w '%{http_code}' --proxy "$http_proxy" http://other.example/
unset http_proxy https_proxy all_proxy no_proxy NODE_USE_ENV_PROXY
says 'hello from web.example' fetch http://web.example/
says 'hello from web.example' fetch --cacert ca.crt https://web.example/
says 'hello from six.example' fetch http://six.example/
says 'hello from web.example' wget -qO- http://web.example/
says 'hello from 203.0.113.10' fetch http://203.0.113.10/
says one sh -c 'd=c$1; git clone -q http://web.example/www/r.git $d && git -C $d log --format=%s' sh "$1"
# A server that talks first: nothing of what comes with the proxy's answer is lost.
says SERVER-FIRST python3 n.py first echo.example 3000
# Where a name leads is the proxy's to know, and to refuse.
says 'hello from private.example' fetch http://private.example/

says ECONNREFUSED python3 n.py tcp 203.0.113.11 443
says ECONNREFUSED python3 n.py tcp 203.0.113.11 "$1"
says ECONNREFUSED python3 n.py tcp web.example 3000
says ECONNREFUSED python3 n.py udp echo.example 5000
says NONAME python3 n.py tcp other.example 80
says NONAME python3 n.py tcp evil.example 80
says '3 0' python3 n.py dns TXT secret.other.example
says ECONNRESET sh -c 'curl -sS --max-time 60 -H "Host: other.example" http://web.example/ 2>&1 | grep -q reset && echo ECONNRESET'
says ECONNRESET sh -c 'curl -sS -k --connect-to other.example:443:web.example:443 https://other.example/ 2>&1 | grep -q reset && echo ECONNRESET'
# The proxy refuses port 5001: its ConnectPort lacks it.
says ECONNRESET python3 n.py exchange echo.example 5001 00
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
top=$WARD_TMP
net_repository
net_project
cp "$top/inside.sh" .
through() {
	file=$1
	shift
	policy "$file" 'mode = proxy' 'allow = web.example' 'allow = six.example' 'allow = echo.example:3000,5001' \
		'allow = echo.example:5000/udp' 'allow = private.example' 'allow = 203.0.113.10:80' \
		'deny = evil.example' "$@"
}
# made TOKEN: within some seconds of when (enforcer/net/protocol/token.h: EXPIRES, a minute later)
made() {
	echo $(($(echo "$1" | cut -d'~' -f10) - 50))
}
# The control: this host itself resolves no name.
getent hosts web.example && fail "control: the host resolves names"
expect 6 curl -sS http://web.example/

echo '--- through tinyproxy alone'
through pol "proxy = http://203.0.113.11:8888"
expect 0 "$WARDFS" run --policy pol -- sh inside.sh 8888
expect 0 "$WARDFS" audit show
has "$OUT" 'host web.example  proto tcp  port 80  by the proxy 203.0.113.11:8888'
has "$OUT" 'the proxy answered 403'
expect 0 "$WARDFS" audit verify

echo '--- with a token in a header'
through pol "proxy = http://203.0.113.11:8889" 'identify = X-Wardfs'
: >"$NET/8889.log"
expect 0 "$WARDFS" run --session tokens --policy pol -- sh inside.sh 8889
expect 0 "$WARDFS" audit key show
echo "$OUT" >key
sed -n 's/^X-Wardfs: //p' "$NET/8889.log" >tokens
[ "$(grep -c ^CONNECT "$NET/8889.log")" -eq "$(wc -l <tokens)" ] || fail "requests without a token: $(cat "$NET/8889.log")"
[ "$(sort -u tokens | wc -l)" -gt 5 ] || fail "few tokens"
[ "$(sort -u tokens | wc -l)" -eq "$(wc -l <tokens)" ] || fail "the same token twice"
token=$(head -1 tokens)
# A token is good for a minute: all of this is asked of the moment at which it was made, but for the
# last one.
at=$(made "$token")
expect 0 "$WARDFS" net verify-token --key key --at "$at" --destination web.example:80 "$token"
# A name is the same in capitals (RFC 4343), as a proxy may have it from a request.
expect 0 "$WARDFS" net verify-token --key key --at "$at" --destination WEB.Example:80 "$token"
has "$OUT" 'session      tokens'
digest=$("$WARDFS" audit show --json tokens | sed -n 's/.*"policy":"\([0-9a-f]*\)".*/\1/p' | head -1)
[ -n "$digest" ] || fail "no digest in the trail"
has "$OUT" "policy       $digest"
expect 0 "$WARDFS" audit show
has "$OUT" 'by the proxy 203.0.113.11:8889, with token 1'
# So does what failed, and the end of what did not.
has "$OUT" 'the proxy answered 403 '
echo "$OUT" | grep 'the proxy answered 403' | grep -q '(by the proxy 203.0.113.11:8889, with token [0-9]*)' || fail "a failure without its token: $OUT"
echo "$OUT" | grep ' sent .* by the proxy 203.0.113.11:8889, with token [0-9]' >ends || fail "an end without its token: $OUT"
# Each of these alone spoils it.
expect 1 "$WARDFS" net verify-token --key key --at "$at" --destination web.example:443 "$token"
has "$ERR" 'for another destination'
expect 1 "$WARDFS" net verify-token --key key --at 4000000000 --destination web.example:80 "$token"
has "$ERR" expired
expect 1 "$WARDFS" net verify-token --key key --at 1000000000 --destination web.example:80 "$token"
has "$ERR" 'from the future'
expect 1 "$WARDFS" net verify-token --key "$(cat "$top/otherkey")" --at "$at" --destination web.example:80 "$token"
has "$ERR" 'not signed for by the given key'
other=$(sed -n 2p tokens)
expect 1 "$WARDFS" net verify-token --key key --at "$at" --destination web.example:80 "${token%~*}~${other##*~}"
has "$ERR" 'not signed for'
expect 1 "$WARDFS" net verify-token --key key --at "$at" --destination web.example:80 "$(echo "$token" | sed 's/~tokens~/~others~/')"
has "$ERR" 'not signed for'
expect 1 "$WARDFS" net verify-token --key key --at "$at" --destination web.example:80 "$token~x"
has "$ERR" 'no token'
expect 2 "$WARDFS" net verify-token "$token"
# A helper that forgets to say where the request goes must not get a yes for another destination.
expect 2 "$WARDFS" net verify-token --key key --at "$at" "$token"
has "$ERR" '--destination HOST:PORT is needed'
expect 2 "$WARDFS" net verify-token --key key --at "$at" --any-destination --destination web.example:80 "$token"
expect 0 "$WARDFS" net verify-token --key key --at "$at" --any-destination "$token"
has "$OUT" 'destination  web.example:80'
# lines OPTION... <what: the answers, without the key
lines() { "$WARDFS" net verify-token --key key --at "$at" --lines "$@" | sed 's/ key=.*//'; }
[ "$(printf '%s\n%s \n' "$token" "$other" | lines | sort -u)" = 'ERR message="the line names no destination"' ] || fail "lines without a destination"
[ "$(echo "$token" | lines --any-destination)" = 'OK user=tokens tag=1' ] || fail "control: any destination"
[ "$(echo "$token" | lines --destination web.example:80)" = 'OK user=tokens tag=1' ] || fail "control: one destination for all"
[ "$(echo "$token" | lines --destination other.example:80)" = 'ERR message="for another destination"' ] || fail "one destination for all"
[ "$(echo "$token web.example 80" | lines --destination other.example:80)" = 'ERR message="for another destination"' ] || fail "two destinations"
printf '%s web.example:80\n%s web.example 80\nx y\n%s other.example:80\nBearer%%20%s\n' "$token" "$token" "$other" "$other" |
	"$WARDFS" net verify-token --key key --at "$at" --lines --any-destination >lines || fail "--lines"
[ "$(grep -c '^OK user=tokens tag=[12] key=[0-9a-f]\{8\}$' lines)" -eq 2 ] || fail "whose key: $(cat lines)"
sed -i 's/ key=.*//' lines
has "$(cat lines)" 'OK user=tokens tag=1
ERR message="its number was taken before"
ERR message="this is no token"
ERR message="for another destination"
OK user=tokens tag=2'
# One answer a line, whatever is in it.
printf 'a\0b %s web.example:80\n%s other.example:80\n' "$token" "$other" |
	"$WARDFS" net verify-token --key key --at "$at" --lines >lines || fail "--lines with NUL"
[ "$(wc -l <lines)" -eq 2 ] && has "$(head -n 1 lines)" 'ERR message="a line with a NUL byte"' || fail "NUL: $(cat lines)"
# Of several keys it says which one signed.
expect 0 "$WARDFS" net verify-token --key "$(cat "$top/otherkey")" --key key --at "$at" --destination web.example:80 "$token"
has "$OUT" "key          $(cat key)"
expect 0 "$WARDFS" run --session now --policy pol -- python3 n.py first echo.example 3000
token=$(sed -n 's/^X-Wardfs: //p' "$NET/8889.log" | tail -1)
expect 0 "$WARDFS" net verify-token --key key --destination echo.example:3000 "$token"
has "$OUT" 'session      now'

# The differences for an ordinary user end here.
[ "$(id -u)" -eq 0 ] || exit 0

echo '--- SOCKS5'
through pol 'proxy = socks5://203.0.113.11:1080'
: >"$NET/1080.log"
sed -i '/5001/d' inside.sh
expect 0 "$WARDFS" run --policy pol -- sh inside.sh 1080
grep -q '^connect name web.example 443' "$NET/1080.log" || fail "$(cat "$NET/1080.log")"
grep -q '^connect address 203.0.113.10 80' "$NET/1080.log" || fail "$(cat "$NET/1080.log")"
through pol 'proxy = socks5://203.0.113.11:1081' 'identify = proxy-authorization'
: >"$NET/1081.log"
expect 0 "$WARDFS" run --session socks --policy pol -- sh inside.sh 1081
token=$(sed -n 's/^login //p' "$NET/1081.log" | head -1)
expect 0 "$WARDFS" net verify-token --key key --at "$(made "$token")" --destination web.example:80 "$token"
# A server that wants a login, and a session that has none to give.
through pol 'proxy = socks5://203.0.113.11:1081'
expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
expect 0 "$WARDFS" audit show
has "$OUT" 'the proxy wants a login'

if command -v squid >/dev/null; then
	echo '--- squid, as docs/network.md has it: no request without a good token'
	cp "$WARDFS" "$NET/verifier"
	cp key "$NET/squid.key"
	chmod 755 "$NET/verifier" && chmod 644 "$NET/squid.key"
	cat >"$NET/squid.conf" <<C
http_port 203.0.113.11:3129
external_acl_type wardfs children-max=1 ttl=0 negative_ttl=0 %>{X-Wardfs} %DST %PORT $NET/verifier net verify-token --key $NET/squid.key --lines
acl session external wardfs
http_access allow CONNECT session
http_access deny all
logformat tokens %rm %ru %>Hs %{X-Wardfs}>h
access_log stdio:$NET/squid.access tokens
cache_log $NET/squid.cache
cache deny all
pid_filename none
shutdown_lifetime 0 seconds
visible_hostname squid.example
C
	touch "$NET/squid.access" "$NET/squid.cache"
	chmod 666 "$NET/squid.access" "$NET/squid.cache"
	ip netns exec internet unshare -m sh -c 'mount --bind "$NET/resolv.proxy" /etc/resolv.conf && exec squid -N -f "$NET/squid.conf"' 2>squid.err &
	squid=$!
	trap 'kill $squid || :; wait $squid 2>/dev/null || :' EXIT
	# squid_says CODE [HEADER]: what a client gets that has no session.
	squid_says() {
		[ "$(curl -sp -o /dev/null -w '%{http_connect}' --proxy http://203.0.113.11:3129 ${2:+--proxy-header "$2"} http://web.example/)" = "$1" ]
	}
	wait_until 60 squid_says 403 || fail "squid does not refuse who has no token: $(cat squid.err "$NET/squid.cache")"
	through pol 'proxy = http://203.0.113.11:3129' 'identify = X-Wardfs'
	expect 0 "$WARDFS" run --session squid --policy pol -- sh inside.sh 3129
	grep -q '^CONNECT web.example:80 200 ' "$NET/squid.access" || fail "not through squid: $(cat "$NET/squid.access")"
	# A token that was taken once, and one of a host that squid does not know.
	squid_says 403 "X-Wardfs: $(sed -n 's/^CONNECT web.example:80 200 //p' "$NET/squid.access" | head -1)" || fail "a token twice"
	: >"$NET/squid.access"
	XDG_STATE_HOME=$HOME/otherstate expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
	has "$OUT" ECONNRESET
	grep -q '^CONNECT web.example:80 403 [^-]' "$NET/squid.access" || fail "another host's token: $(cat "$NET/squid.access")"
	kill "$squid"
	wait "$squid" 2>/dev/null || :
	trap - EXIT
else
	echo "(no squid here: what it refuses is not tried)"
fi

echo '--- proxies that lie, and none at all'
for port in 9001 9002 9003 9004 9005; do
	through pol "proxy = http://203.0.113.11:$port"
	expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
	has "$OUT" ECONNRESET
done
for port in 9006 9007; do
	through pol "proxy = socks5://203.0.113.11:$port"
	expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
	has "$OUT" ECONNRESET
done
expect 0 "$WARDFS" audit show
has "$OUT" "the proxy's reply is not SOCKS5"
through pol 'proxy = http://203.0.113.11:9'
expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
expect 0 "$WARDFS" audit show
has "$OUT" 'the proxy cannot be reached'
# It takes connections and says nothing: twice handshake-time, and no longer.
wait_until 60 python3 n.py tcp 203.0.113.11 9008 || fail "control: nobody takes connections"
for kind in http socks5; do
	through pol "proxy = $kind://203.0.113.11:9008" 'handshake-time = 1s'
	expect 1 "$WARDFS" run --policy pol -- python3 n.py exchange web.example 80 00
	has "$OUT" ECONNRESET
	expect 0 "$WARDFS" audit show
	has "$OUT" 'the proxy did not answer'
done
expect 0 "$WARDFS" audit verify

echo '--- what is no policy'
bad() {
	text=$1
	shift
	policy bad "$@"
	expect 2 "$WARDFS" run --policy bad -- true
	has "$ERR" "$text"
}
bad 'mode = proxy needs a proxy' 'mode = proxy'
bad 'TLS to the proxy' 'mode = proxy' 'proxy = https://203.0.113.11:8888'
bad 'name the port' 'mode = proxy' 'proxy = http://203.0.113.11'
bad 'user and password' 'mode = proxy' 'proxy = http://u:p@203.0.113.11:8888'
bad 'no header' 'mode = proxy' 'proxy = socks5://203.0.113.11:1' 'identify = X-Wardfs'
bad "'Host' has another meaning" 'mode = proxy' 'proxy = http://203.0.113.11:1' 'identify = Host'
expect 0 "$WARDFS" policy check pol
has "$OUT" 'mode = proxy carries no datagrams'
exit 0
S
cat >both.sh <<'S'
set -eu
mkdir -p "$NET/www" && chmod 777 "$NET" "$NET/www" && chmod 666 "$NET/log"
. "$WARD_SRC/tests/lib.sh"
cat >"$NET/tinyproxy.conf" <<C
User nobody
Group nogroup
Port 8888
Listen 203.0.113.11
Timeout 600
MaxClients 100
LogFile "$NET/tinyproxy.log"
LogLevel Info
ConnectPort 80
ConnectPort 443
ConnectPort 3000
C
# The proxies alone know of names: theirs is another resolv.conf.
cp "$NET/resolv.conf" "$NET/resolv.proxy"
cat >"$NET/proxies.sh" <<'C'
mount --bind "$NET/resolv.proxy" /etc/resolv.conf
# speak ARG...: one of the proxies. All end with this.
started=
trap 'kill $started 2>/dev/null || :' EXIT
trap 'exit 0' TERM
speak() {
	python3 "$WARD_SRC/tests/support/upstream.py" "$NET" 203.0.113.11 "$@" &
	started="$started $!"
}
speak 8889 tap 203.0.113.11 8888
speak 1080 socks
speak 1081 socks login
# Not HTTP; no end; a status that is none; another version; an end in the middle: here, too much.
say() {
	speak "$1" say "$2"
}
say 9001 5353482d322e300d0a0d0a
say 9002 "$(printf 'HTTP/1.1 200 OK\r\nX: %020000d' 0 | od -An -tx1 -v | tr -d ' \n')"
say 9003 "$(printf 'HTTP/1.1 2x0 OK\r\n\r\n' | od -An -tx1 -v | tr -d ' \n')"
say 9004 "$(printf 'HTTP/2 200 OK\r\n\r\n' | od -An -tx1 -v | tr -d ' \n')"
say 9005 "$(printf 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' | od -An -tx1 -v | tr -d ' \n')"
say 9006 485454
say 9007 0500050000060000
python3 -c 'import socket, time; s = socket.create_server(("203.0.113.11", 9008)); time.sleep(3600)' &
started="$started $!"
tinyproxy -d -c "$NET/tinyproxy.conf" &
started="$started $!"
wait
C
ip netns exec internet unshare -m sh "$NET/proxies.sh" 2>"$NET/proxies.err" &
proxies=$!
trap 'kill $proxies || :; wait $proxies 2>/dev/null || :' EXIT
: >"$NET/8889.log"; : >"$NET/1080.log"; : >"$NET/1081.log"
for port in 8889 1080 1081 9001 9002 9003 9004 9005 9006 9007; do
	wait_until 60 test -e "$NET/$port.up" || fail "no proxy on $port: $(cat "$NET/proxies.err")"
done
chmod 666 "$NET"/*.log
HOME=$WARD_TMP/roothome
export HOME
mkdir -p "$HOME"
wait_until 60 curl -sf -o /dev/null --proxy http://203.0.113.11:8888 http://web.example/ ||
	fail "control: tinyproxy does not work: $(cat "$NET/proxies.err" "$NET/tinyproxy.log")"
printf 'nameserver 192.0.2.1\noptions timeout:1 attempts:1\n' >"$NET/resolv.conf"
XDG_STATE_HOME=$WARD_TMP/otherstate "$WARDFS" run --policy low -- true 2>/dev/null || :
(cd / && XDG_STATE_HOME=$WARD_TMP/otherstate "$WARDFS" audit key show) >"$WARD_TMP/otherkey" || fail "no other key"
chmod 644 "$WARD_TMP/otherkey" "$WARD_TMP/inside.sh"
sh "$WARD_TMP/check.sh" || exit
as_user "$WARD_TMP/check.sh"
S
in_host "$WARD_TMP/both.sh"
