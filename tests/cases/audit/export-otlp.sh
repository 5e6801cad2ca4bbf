#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports by OTLP over HTTP and HTTPS handle every answer of the specification, and invalid
# answers. Records arrive at least once, and log.record.uid identifies duplicates.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/collector.sh"
. "$WARD_SRC/tests/cases/audit/lib/certificates.sh"
certificates

run --session x --events 300 --name "$(printf '/a]b"c\\d\n\033[31m')"
run --session long --events 3000
# send ARGS…
send() {
	audit export --to "$url" $ca "$@" 2>err
}
# refused WHAT TEXT: the next connection does that, and the export fails with this text
never() {
	: >got
	behave "$1"
	rm -f now.cursor
	send --retry 0 --timeout 2s --cursor now.cursor x && fail "$1: and yet"
	says "$2"
	says 'continues where this one ended'
	[ "$(cursor now.cursor)" = "" ] || fail "$1: the cursor: $(cat now.cursor)"
	: >got
	send --cursor now.cursor x || fail "after $1: $(cat err)"
	once x
	[ "$(cursor now.cursor)" -eq "$(records x)" ] || fail "$1: the cursor: $(cat now.cursor)"
}

for scheme in http https; do
	echo "--- $scheme: each record once"
	if [ $scheme = http ]; then
		ca=
		collector otlp
	else
		ca='--ca pki/ca.pem'
		collector otlp --tls pki/server
	fi
	url=$scheme://localhost:$port
	send long || fail "$(cat err log)"
	once long
	[ "$(grep -c '^good' log)" -eq 6 ] || fail "requests: $(cat log)"
	for path in / /v1/logs /v1/logs/; do
		: >got
		url=$scheme://127.0.0.1:$port$path
		send x || fail "$path: $(cat err)"
		once x
	done

	echo "--- $scheme: not now, and later: tried again within the run"
	for what in "429 1" 429 502 503 "503 1" 504 reset; do
		: >got
		behave "$what"
		send x || fail "$what: $(cat err log)"
		once x
	done
	# Dates are for whole seconds; this one is over.
	behave "503 Wed, 21 Oct 2015 07:28:00 GMT"
	: >got
	send x || fail "a date: $(cat err)"
	once x
	: >got
	behave lost half
	send x || fail "$(cat err)"
	all_of x || fail "lost"
	[ "$(wc -l <got)" -eq $((3 * $(records x))) ] || fail "the answers arrived: $(wc -l <got)"

	echo "--- $scheme: not now, and not in this run"
	never 503 'answers 503: come '
	never "503 3600" 'asks to wait 3600 s, longer than --retry (0 s)'
	never 400 'answers 400'
	never 401 'answers 401'
	never 301 'answers 301'
	never page 'answer is not the JSON of OTLP'
	never garbage 'what it answers is not HTTP/1.1'
	never long 'answer is too long'
	never never 'took nothing and said nothing for 2 seconds'
	never drip 'took nothing and said nothing for 2 seconds'
	never partial 'rejected 2 of records 1 to .*: no\. They are not sent again .*--after'
	never reset 'connection was cut'
	# A count that is none is no yes. The control is "rejected 0", below.
	for count in 2.0 '"2.0"' '""' -1 '"x"' true '[]' '"99999999999999999999"'; do
		never "rejected $count" 'answer is not the JSON of OTLP'
	done
	never odd 'answer is not the JSON of OTLP'
	never eager 'it answered before it had the whole request'

	echo "--- $scheme: what says yes in other ways"
	for what in 'rejected 0' 'rejected "0"' 'rejected null'; do
		behave "$what"
		send x || fail "$what: $(cat err)"
	done
	for what in chunked warns nothing; do
		: >got
		behave $what
		send x || fail "$what: $(cat err)"
		once x
		[ $what != warns ] || says 'took all and says: use gzip'
	done
	# The end of the connection is the end of the body: under TLS anybody can cut that.
	: >got
	behave noend
	if [ $scheme = http ]; then
		send x || fail "$(cat err)"
	else
		send --retry 0 x && fail "an end that nobody vouches for"
		says 'connection was cut'
	fi

	echo "--- $scheme: a request that is too large is halved; a record that is says so"
	echo 60000 >limited
	: >got
	send x || fail "$(cat err log)"
	once x
	rm limited
	run --session "large-$scheme" --events 1 --name "/$(head -c 3000 /dev/zero | tr '\0' n)"
	echo 9000 >limited
	: >got
	rm -f large.cursor
	send --cursor large.cursor "large-$scheme" && fail "larger than the collector accepts"
	says 'record [0-9]* is larger than the collector accepts; raise its limit, or pass over this record with --after'
	n=$(sed -n 's/.*pass over this record with --after \([0-9]*\).*/\1/p' err)
	[ "$(cursor large.cursor)" -eq $((n - 1)) ] || [ "$n" -eq 1 ] || fail "the cursor: $(cat large.cursor), $n"
	while n=$(sed -n 's/.*pass over this record with --after \([0-9]*\).*/\1/p' err) && [ -n "$n" ]; do
		send --cursor large.cursor --after "$n" "large-$scheme" || :
	done
	[ "$(cursor large.cursor)" -eq "$(records "large-$scheme")" ] || fail "the cursor: $(cat large.cursor) $(cat err)"
	rm limited
	: >got
	behave early
	send x || fail "refused before it was read: $(cat err log)"
	once x

	echo "--- $scheme: headers"
	printf 'Authorization: Bearer abc\nX-Scope: 1\n' >headers
	chmod 600 headers
	echo 'Bearer abc' >token
	: >got
	send --headers headers x || fail "$(cat err)"
	once x
	rm token
	for line in 'Host: other' 'no header' "$(printf 'A: b\rc')" 'Content-Length: 3' 'a b: c'; do
		printf 'A: b\n%s\n' "$line" >headers
		send --headers headers x && fail "$line"
		says 'headers:2: this line is no header'
	done
	chmod 644 headers
	send --headers headers x && fail "everybody's"
	says 'is a secret that everybody can read'
done

echo "--- killed in the midst: what is missing comes with the next run"
: >got
: >log
behave good good never
audit export --to "$url" --ca pki/ca.pem --cursor killed.cursor long 2>err &
export_pid=$!
the_export() {
	child=$export_pid
	[ "$(cat "/proc/$export_pid/comm")" = wardfs ] || child=$(tr -d ' ' <"/proc/$export_pid/task/$export_pid/children")
}
midst() {
	the_export
	grep -q '^never' log && [ -n "$child" ]
}
wait_until 60 midst || fail "never in the midst: $(cat err)"
# The process that talks to the collector is caged, and has neither our environment nor our files.
sender=$(tr -d ' ' <"/proc/$child/task/$child/children")
expect 0 grep -q '^Name:.wardfs-send$' "/proc/$sender/status"
for line in 'Seccomp:.2' 'NoNewPrivs:.1' 'CapEff:.0*' 'Threads:.1'; do
	expect 0 grep -qx "$line" "/proc/$sender/status"
done
[ ! -s "/proc/$sender/environ" ] || fail "its environment: $(tr '\0' ' ' <"/proc/$sender/environ")"
[ "$(cd "/proc/$sender/fd" && echo *)" = "1 2 3" ] || fail "its descriptors: $(ls -l "/proc/$sender/fd")"
kill -9 "$child"
expect 137 wait "$export_pid"
[ "$(cursor killed.cursor)" -eq 1024 ] || fail "the cursor: $(cat killed.cursor)"
send --cursor killed.cursor long || fail "it does not go on: $(cat err)"
once long
: >got
send --cursor killed.cursor long || fail "$(cat err)"
[ ! -s got ] || fail "nothing was left"

echo "--- certificates"
send --ca pki/other.pem x && fail "another authority"
says 'certificate of 127.0.0.1 is not accepted'
echo "--- files that another user can change"
if [ "$(id -u)" -eq 0 ]; then
	for file in pki/ca.pem headers cursor; do
		: >headers
		chmod 600 headers
		rm -f cursor
		send --headers headers --cursor cursor x || fail "control: $(cat err)"
		chown 12345 $file
		: >got
		send --headers headers --cursor cursor x && fail "another user's: $file"
		case $file in
		cursor) says 'others can write this cursor' ;;
		*) says 'belongs to another user (uid 12345), who can change it' ;;
		esac
		[ ! -s got ] || fail "$file: records were sent"
		chown 0 $file
	done
	chmod o+w cursor
	send --cursor cursor x && fail "a cursor that all can write"
	says 'others can write this cursor'
	rm -f cursor
fi
collector otlp --tls pki/server --client-ca pki/ca.pem
url=https://localhost:$port
send --cert pki/client.pem --key pki/client.key x || fail "$(cat err)"
once x
: >got
send --retry 0 x && fail "no client certificate"
[ ! -s got ] || fail "records were taken"

echo "--- neither proxies nor settings of OpenSSL come from the environment"
printf 'openssl_conf = x\n[x]\nproviders = y\n[y]\nz = w\n[w]\nmodule = /nonexistent\nactivate = 1\n' >openssl.cnf
: >got
http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 \
	SSL_CERT_FILE=$PWD/pki/other.pem OPENSSL_CONF=$PWD/openssl.cnf SSLKEYLOGFILE=$PWD/keylog \
	send --cert pki/client.pem --key pki/client.key x || fail "$(cat err)"
once x
[ ! -e keylog ] || fail "keys of the session"

echo "--- wrong use"
for wrong in https://localhost:x http://a@b/ https://h/?x "https://h/a b" https:// 'http://[::1/'; do
	audit export --to "$wrong" x 2>err && fail "$wrong"
	says 'give http\[s\]://HOST\[:PORT\]\[/PATH\]'
done
expect 2 audit export --to "$url" --format cef x
expect 2 audit export --timeout 3s x
[ ! -e wrong ] || fail "the collector: $(cat wrong)"
