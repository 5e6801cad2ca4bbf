#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports to syslog over TLS (RFC 5425) verify both sides' certificates. wardfs sends again what
# may not have arrived. Every wait ends.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/collector.sh"
. "$WARD_SRC/tests/cases/audit/lib/certificates.sh"
certificates

run --session x --events 300 --name "$(printf '/a]b"c\\d\n\033[31m')"
run --session long --events 3000
# send HOST ARGS…
send() {
	host=$1
	shift
	audit export --to "tls:$host:$port" "$@" 2>err
}

echo "--- each record once, over the name and over the address, in each format"
collector syslog --tls pki/server
for host in localhost 127.0.0.1; do
	: >got
	send $host --ca pki/ca.pem x || fail "$host: $(cat err log)"
	once x
done
for format in csv cef ocsf otel; do
	: >got
	send localhost --ca pki/ca.pem --format $format x || fail "$format: $(cat err)"
	once x
done

echo "--- a certificate that is not trusted, of another name, or too old: nothing is sent"
: >got
send localhost --ca pki/other.pem x && fail "another authority"
says 'certificate of localhost is not accepted: unable to get local issuer certificate'
send localhost x && fail "the authorities of this host"
says 'certificate of localhost is not accepted'
collector syslog --tls pki/elsewhere
send localhost --ca pki/ca.pem x && fail "another name"
says 'certificate of localhost is not accepted: hostname mismatch'
send 127.0.0.1 --ca pki/ca.pem x && fail "another address"
says 'certificate of 127.0.0.1 is not accepted: IP address mismatch'
collector syslog --tls pki/expired
send localhost --ca pki/ca.pem x && fail "expired"
says 'certificate of localhost is not accepted: certificate has expired'
[ ! -s got ] || fail "records were sent: $(cat got)"
collector syslog
send localhost --ca pki/ca.pem --timeout 5s --retry 0 x && fail "a collector without TLS"
[ ! -s got ] || fail "records were sent in the clear: $(cat got)"

echo "--- a client certificate"
collector syslog --tls pki/server --client-ca pki/ca.pem
send localhost --ca pki/ca.pem --cert pki/client.pem --key pki/client.key x || fail "$(cat err log)"
once x
grep -q '^client client' log || fail "whose certificate: $(cat log)"
: >got
send localhost --ca pki/ca.pem --retry 0 x && fail "no client certificate"
grep -q 'wants a client certificate: give --cert and --key\|connection was cut' err || fail "$(cat err)"
send localhost --ca pki/ca.pem --cert pki/stranger.pem --key pki/stranger.key --retry 0 x && fail "a stranger's"
[ ! -s got ] || fail "records were taken: $(cat got)"
for wrong in "--cert pki/client.pem" "--key pki/client.key"; do
	# shellcheck disable=SC2086 # two words
	send localhost --ca pki/ca.pem $wrong x && fail "$wrong alone"
	says '--cert goes with --key'
done
send localhost --ca pki/ca.pem --cert pki/client.pem --key pki/server.key x && fail "another key"
says '--key: it is not the key of the first certificate of --cert'
openssl ec -in pki/client.key -aes128 -passout pass:x -out pki/locked.key 2>>pki/log
send localhost --ca pki/ca.pem --cert pki/client.pem --key pki/locked.key x </dev/null && fail "a passphrase"
says '--key: it has no private key in PEM without a passphrase'
send localhost --ca /dev/null x && fail "no authority"
says 'is not a regular file'

echo "--- files: no links, no secret that everybody reads, no authorities that everybody writes"
mkdir elsewhere
cp pki/client.key elsewhere/
chmod 600 elsewhere/client.key
ln -s elsewhere planted
chown -h 4711:4711 planted
ln -s client.key elsewhere/link.key
send localhost --ca pki/ca.pem --cert pki/client.pem --key elsewhere/client.key x || fail "control: $(cat err)"
send localhost --ca pki/ca.pem --cert pki/client.pem --key planted/client.key x && fail "through a link"
says 'a symbolic link is on the way'
send localhost --ca pki/ca.pem --cert pki/client.pem --key elsewhere/link.key x && fail "a link"
says 'is a symbolic link, which is not followed'
chmod 604 elsewhere/client.key
send localhost --ca pki/ca.pem --cert pki/client.pem --key elsewhere/client.key x && fail "everybody's key"
says 'is a secret that everybody can read'
cp pki/ca.pem open.pem
chmod 666 open.pem
send localhost --ca open.pem x && fail "everybody's authorities"
says 'can be written by everybody'

echo "--- cut in the middle of a frame: the same run sends the batch again, or the next one does"
for cut in cut cutfin; do
	collector syslog --tls pki/server
	behave "$cut 20000"
	send localhost --ca pki/ca.pem --cursor $cut.cursor long || fail "$cut: $(cat err log)"
	all_of long || fail "$cut: lost; $(cat log)"
	[ "$(sort got | uniq -d | wc -l)" -gt 0 ] || fail "$cut: nothing came twice, so nothing was cut"
	[ "$(cursor $cut.cursor)" -eq "$(records long)" ] || fail "the cursor: $(cat $cut.cursor)"
	: >got
	rm $cut.cursor
	behave good good "$cut 20000"
	send localhost --ca pki/ca.pem --cursor $cut.cursor --retry 0 long && fail "$cut: it did not arrive"
	says 'continues where this one ended'
	says 'connection was cut'
	[ "$(cursor $cut.cursor)" -eq 1024 ] || fail "the cursor: $(cat $cut.cursor)"
	send localhost --ca pki/ca.pem --cursor $cut.cursor --retry 0 long || fail "it does not go on: $(cat err)"
	all_of long || fail "$cut: lost"
	[ "$(cursor $cut.cursor)" -eq "$(records long)" ] || fail "the cursor: $(cat $cut.cursor)"
done

echo "--- a collector that reads slowly has its time; one that does nothing has not"
collector syslog --tls pki/server
behave slowly
send localhost --ca pki/ca.pem x || fail "slowly: $(cat err)"
once x
# rsyslog ends without a close_notify.
: >got
behave rsyslog
send localhost --ca pki/ca.pem x || fail "no close_notify: $(cat err)"
once x
for what in mute never open; do
	: >got
	behave $what
	send localhost --ca pki/ca.pem --timeout 2s --retry 0 --cursor $what.cursor long && fail "$what: and yet"
	says 'took nothing and said nothing for 2 seconds'
	[ ! -s got ] || fail "$what"
	[ "$(cursor $what.cursor)" = "" ] || fail "$what: the cursor: $(cat $what.cursor)"
	send localhost --ca pki/ca.pem --cursor $what.cursor long || fail "after $what: $(cat err)"
	once long
done

echo "--- killed in the midst: what is missing comes with the next run"
: >got
behave good halting halting halting halting halting
audit export --to "tls:localhost:$port" --ca pki/ca.pem --cursor killed.cursor long 2>err &
export_pid=$!
sender() {
	pgid_children=$(cat /proc/"$1"/task/*/children 2>/dev/null) || :
	echo "$pgid_children"
}
# The shell's function may have a process of its own around it.
the_export() {
	child=$export_pid
	case $(cat "/proc/$export_pid/comm") in
	wardfs) ;;
	*) child=$(sender "$export_pid" | tr -d ' ') ;;
	esac
}
midst() {
	the_export
	[ -s killed.cursor ] && [ -n "$child" ] && [ -n "$(sender "$child")" ]
}
wait_until 60 midst || fail "never in the midst: $(cat err)"
kill -9 "$child"
expect 137 wait "$export_pid"
[ "$(cursor killed.cursor)" -lt "$(records long)" ] || fail "it was not in the midst of it"
# wardfs-send ends with it: the collector hears no more of that connection.
send localhost --ca pki/ca.pem --cursor killed.cursor long || fail "it does not go on: $(cat err)"
all_of long || fail "lost: $(sort -u got | wc -l) of $(records long)"

echo "--- rsyslog, as docs/for-compliance.md sets it up"
end_collector
awk '/^```rsyslog$/ { on = 1; next } /^```$/ { on = 0 } on' "$WARD_SRC/docs/for-compliance.md" |
	sed -e "s,/etc/wardfs/,$PWD/pki/," -e "s,/var/log/,$PWD/," \
		-e "s,port=\"6514\",port=\"0\" address=\"127.0.0.1\" listenPortFileName=\"$PWD/rsyslog.port\"," >rsyslog.conf
expect 0 grep -q listenPortFileName rsyslog.conf
rsyslogd -n -f "$PWD/rsyslog.conf" -i "$PWD/rsyslog.pid" >rsyslog.out 2>&1 &
collector_pid=$!
wait_until 60 test -s rsyslog.port || fail "rsyslog: $(cat rsyslog.out)"
port=$(cat rsyslog.port)
listens() {
	python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port"
}
wait_until 60 listens || fail "rsyslog: $(cat rsyslog.out)"
send localhost --ca pki/ca.pem --cert pki/client.pem --key pki/client.key long || fail "$(cat err rsyslog.out)"
written() {
	grep -o '"session":"long","kind"' wardfs.log | wc -l | grep -qx "$(records long)"
}
wait_until 60 written || fail "rsyslog has $(wc -l wardfs.log) of $(records long)"
send localhost --ca pki/ca.pem --cert pki/stranger.pem --key pki/stranger.key --retry 0 x && fail "a stranger's"
send localhost --ca pki/ca.pem --retry 0 x && fail "no client certificate"
expect 1 grep -q '"session":"x"' wardfs.log
end_collector

echo "--- wrong use"
audit export --to "tls:localhost" x 2>err && fail "no port"
says 'give tls:HOST:PORT'
audit export --to "tcp:localhost:$port" --ca pki/ca.pem x 2>err && fail "--ca without TLS"
says 'are for --to tls:'
send localhost --headers pki/ca.key x && fail "--headers to syslog"
says '--headers is for http and https'
[ ! -e wrong ] || fail "the collector: $(cat wrong)"
