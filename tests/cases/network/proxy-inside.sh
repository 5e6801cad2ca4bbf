#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The proxy inside, as root and as an ordinary user: HTTP and SOCKS5, through the variables that
# every program gets, with the same decisions.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >inside.sh <<'S'
set -eu
. ./says.sh
P=${http_proxy#http://}
H=${P%:*}
status() {
	curl -s -o /dev/null -w '%{http_code}' --max-time 60 "$@"
}
# The bytes that exchange sends, by name.
hex() {
	printf "$1" | od -An -tx1 | tr -d ' \n'
}
raw() {
	python3 n.py exchange "$H" 3128 "$@" | head -1 | tr -d '\r'
}
says 'hello from web.example' fetch http://web.example/
says 'hello from web.example' fetch --cacert ca.crt https://web.example/
says 'hello from web.example' fetch --cacert ca.crt --proxy "socks5h://$P" https://web.example/
says 'hello from web.example' fetch --proxy "socks5://$P" http://web.example/
says 'hello from web.example' fetch --noproxy '*' http://web.example/
says 300001 fetch --data-binary @big http://web.example/
says 'hello from web.example' wget -qO- http://web.example/
says 'hello from web.example' python3 -c 'import urllib.request as u; print(u.urlopen("http://web.example/").read().decode().strip())'
says one sh -c 'git clone -q http://web.example/www/r.git c && git -C c log --format=%s'
says inside sh -c 'echo inside >i; python3 -m http.server -b 127.0.0.1 8000 2>/dev/null & s=$!
	until curl -sf http://127.0.0.1:8000/i; do sleep 0.05; done; kill $s'

# Refused, in the protocol's words.
says 403 status http://other.example/
has403=$(fetch http://other.example/)
case $has403 in *'[network] mode = allowlist'*) ;; *) echo "FAIL: $has403" >&2; exit 1 ;; esac
says 403 status http://web.example:3000/
says 403 status http://203.0.113.10/
says 403 status http://169.254.169.254/
says 403 status http://127.0.0.1:3128/ --noproxy ''
says 403 status http://meta.example/
says 502 status http://nowhere.example/
says 'HTTP/1.1 502 Bad Gateway: wardfs could not reach nowhere.example:80: the name does not exist or nobody answered' \
	raw "$(hex 'CONNECT nowhere.example:80 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 403 Forbidden: wardfs does not allow 203.0.113.10:443' raw "$(hex 'CONNECT 203.0.113.10:443 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 403 Forbidden: wardfs does not allow [2001:db8:113::10]:80' raw "$(hex 'CONNECT [2001:db8:113::10]:80 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 403 Forbidden: wardfs does not allow web.example:22' raw "$(hex 'CONNECT web.example:22 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example:0 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example:65536 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'GET http://web.example@other.example/ HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example@other.example:80 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example%%00:80 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'CONNECT web.example\000.other.example:80 HTTP/1.1\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'GET / HTTP/1.1\r\nHost: web.example\r\n\r\n')"
says 'HTTP/1.1 400 Bad Request' raw "$(hex 'GET http://web.example/ HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n')"
says 'HTTP/1.1 200 OK' raw "$(hex 'GET http://WEB.example./ HTTP/1.1\r\nHost: other.example\r\n\r\n')"
# A tunnel, then a request for another host: what was granted is a name, not a server.
says '' sh -c "python3 n.py exchange $H 3128 $(hex 'CONNECT web.example:80 HTTP/1.1\r\n\r\n') $(hex 'GET / HTTP/1.1\r\nHost: other.example\r\n\r\n') | grep 'hello from other'"
# Requests behind the first one, to a server that answers all of them: at once, after its answer,
# and behind what looks like a body. The first two are the control.
says 2 sh -c "python3 n.py dialog $H 3128 $(hex 'GET http://web.example:8080/1 HTTP/1.1\r\n\r\n') $(hex 'GET /2 HTTP/1.1\r\nHost: web.example:8080\r\n\r\n') | grep -c done"
says ECONNRESET python3 n.py dialog $H 3128 $(hex 'GET http://web.example:8080/3 HTTP/1.1\r\n\r\n') $(hex 'GET /4 HTTP/1.1\r\nHost: other.example:8080\r\n\r\n')
says ECONNRESET python3 n.py dialog $H 3128 $(hex 'CONNECT web.example:8080 HTTP/1.1\r\n\r\nGET /5 HTTP/1.1\r\nHost: web.example\r\n\r\n') $(hex 'GET /6 HTTP/1.1\r\nHost: other.example\r\n\r\n')
says ECONNRESET python3 n.py dialog $H 3128 $(hex 'GET http://web.example:8080/7 HTTP/1.1\r\n\r\nGET http://other.example:8080/8 HTTP/1.1\r\nHost: other.example:8080\r\n\r\n')
says ECONNRESET python3 n.py dialog $H 3128 $(hex 'POST http://web.example:8080/7 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /8 HTTP/1.1\r\nHost: other.example:8080\r\n\r\n')
for field in 'Content-Length: +0' 'Content-Length: 0\r\nContent-Length: 0' 'Transfer-Encoding: xchunked' 'Transfer-Encoding: chunked, identity' 'Content-Length : 0' ' Content-Length: 0'; do
	says 'HTTP/1.1 400 Bad Request' raw "$(hex "POST http://web.example:8080/8 HTTP/1.1\\r\\n$field\\r\\n\\r\\n")"
done
# SOCKS: granted, not allowed, commands and names that are none.
socks() {
	python3 n.py exchange "$H" 3128 050100 "$1" | od -An -tx1 | tr -d ' \n' | cut -c1-8
}
says 05000500 socks 050100030b7765622e6578616d706c650050
says 05000502 socks 050100030d6f746865722e6578616d706c650050
says 05000502 socks 050100030b7765622e6578616d706c650000
says 05000502 socks 05010001cb00710a0050
says 05000507 socks 050200030b7765622e6578616d706c650050
says 05000507 socks 050300030b7765622e6578616d706c650050
says 05000508 socks 050100030c7765622e6578616d706c65000050
says 05000508 socks 05010003000050
says 05000502 socks "05010003ff$(python3 -c 'print("61" * 255)')0050"
says 05000508 socks 05010009000050
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_repository
net_project
cp "$TOP/inside.sh" .
python3 -c 'print("x" * 300000)' >big
policy pol 'mode = allowlist' 'allow = web.example:80,443,8080' 'allow = meta.example' 'allow = nowhere.example'
expect 0 curl -sS --max-time 60 http://other.example/
: >"$NET/log"
expect 0 "$WARDFS" run --policy pol -- sh inside.sh
for path in 1 2 3 5; do
	grep -q "^eager .*/$path web.example" "$NET/log" || fail "control: /$path did not arrive: $(cat "$NET/log")"
done
! grep '^eager .*\(/4\|/6\|/8\|other\)' "$NET/log" || fail "smuggled"
expect 0 "$WARDFS" audit show
has "$OUT" 'host web.example  addr 203.0.113.10  proto connect  port 443'
has "$OUT" 'proto socks5'
expect 0 "$WARDFS" audit show --kind deny
has "$OUT" 'host other.example  proto http  port 80'
expect 0 "$WARDFS" audit verify
# --env has the last word.
expect 0 "$WARDFS" run --policy pol --env http_proxy= -- sh -c 'echo "[$http_proxy]"'
[ "$OUT" = '[]' ] || fail "$OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
