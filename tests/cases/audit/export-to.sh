#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports to syslog: rsyslog receives every record once, over TCP and a unix socket. After a kill,
# or after the receiver went away, the next export continues where the last one stopped.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

pids=
end_helpers() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || :
	done
}
trap end_helpers EXIT

run --session x --events 300 --name "$(printf '/a]b"c\\d\n\033[31m')"
run --session long --events 40000
records() {
	wc -l <"state/sessions/$1/trail.jsonl"
}
cat >rsyslog.conf <<END
module(load="imtcp")
module(load="imuxsock" SysSock.Use="off")
template(name="plain" type="string" string="%hostname% %app-name% %msgid% %structured-data%%msg%\n")
ruleset(name="tcp") { action(type="omfile" file="$PWD/tcp.out" template="plain") }
ruleset(name="unix") { action(type="omfile" file="$PWD/unix.out" template="plain") }
input(type="imtcp" address="127.0.0.1" port="0" listenPortFileName="$PWD/tcp.port" ruleset="tcp")
input(type="imuxsock" Socket="$PWD/log" UseSpecialParser="off" ruleset="unix" RateLimit.Interval="0")
global(maxMessageSize="128k" parser.escapeControlCharactersOnReceive="off")
END
rsyslogd -n -f "$PWD/rsyslog.conf" -i "$PWD/rsyslog.pid" >rsyslog.out 2>&1 &
rsyslog=$!
pids=$rsyslog
wait_until 60 test -S log || fail "rsyslog: $(cat rsyslog.out)"
wait_until 60 test -s tcp.port || fail "rsyslog: $(cat rsyslog.out)"
port=$(cat tcp.port)
up() {
	python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port"
}
wait_until 60 up || fail "rsyslog: $(cat rsyslog.out)"
audit export --to "tcp:127.0.0.1:$port" --cursor tcp.cursor x || fail "over TCP"
audit export --to "unix:$PWD/log" --format cef x || fail "over a unix socket"
arrived() {
	[ "$(wc -l <"$1")" -ge "$(records x)" ]
}
wait_until 60 arrived tcp.out || fail "TCP: $(wc -l tcp.out)"
wait_until 60 arrived unix.out || fail "unix: $(wc -l unix.out)"
# again: there is nothing left to send
audit export --to "tcp:127.0.0.1:$port" --cursor tcp.cursor x || fail "again"
python3 "$WARD_SRC/tests/cases/audit/lib/export-to-rsyslog.py" || fail "what rsyslog has"

# A number that is no port does not become another one.
for wrong in 0 65536 99999; do
	expect 125 "$WARDFS" audit export --state "$STATE" --to "tcp:127.0.0.1:$wrong" x
	has "$ERR" "give tcp:HOST:PORT"
done
# An other side that takes its time, so that an export can be killed in the midst of it.
cp "$WARD_SRC/tests/cases/audit/lib/export-to-slow.py" slow.py
slow() {
	rm -f port got
	python3 slow.py "$1" &
	slow_pid=$!
	pids="$pids $slow_pid"
	wait_until 60 test -s port || fail "no port"
	to=tcp:127.0.0.1:$(cat port)
}
cursor() {
	cut -d' ' -f2 "$1" | tr -d '\n'
}
slow patient
audit export --to "$to" --cursor long.cursor long 2>err &
export_pid=$!
# The shell's function may have a process of its own around it.
the_export() {
	child=$(tr -d ' ' <"/proc/$export_pid/task/$export_pid/children")
	child=${child:-$export_pid}
}
# It waits for the other side, and not for a CPU between two steps.
stands() {
	the_export
	a=$(cursor long.cursor)
	sleep 0.3
	[ -n "$a" ] && [ "$a" -gt 200 ] && grep -q '^State:.S' "/proc/$child/status" &&
		[ "$a" = "$(cursor long.cursor)" ]
}
wait_until 60 stands || fail "never waits: $(cat long.cursor)"
kill -9 "$child"
dead() {
	! kill -0 "$child"
}
wait_until 60 dead || fail "it lives"
expect 137 wait "$export_pid"
at=$(cursor long.cursor)
[ "$at" -lt "$(records long)" ] || fail "it was not in the midst of it: $at"
: >go
audit export --to "$to" --cursor long.cursor long || fail "does not go on"
[ "$(cursor long.cursor)" -eq "$(records long)" ] || fail "the cursor: $(cat long.cursor)"
all() {
	[ "$(sort -nu got | wc -l)" -eq "$(records long)" ]
}
wait_until 60 all || fail "lost: $(sort -nu got | wc -l) of $(records long)"
[ "$(wc -l <got)" -eq "$(records long)" ] || fail "doubled: $(sort -n got | uniq -d | sed -n "1p;\$p") cursor $at, $(cat err)"
kill "$slow_pid"
expect 143 wait "$slow_pid"
pids=$rsyslog

# An other side that goes away: that is said, and the next run goes on with what it had not taken.
slow rude
audit export --to "$to" --cursor rude.cursor long 2>err && fail "nobody is there, and yet"
grep -q 'continues where this one ended' err || fail "what to do: $(cat err)"
[ "$(cursor rude.cursor)" -lt "$(records long)" ] || fail "the cursor: $(cat rude.cursor)"
first=$(($(cursor rude.cursor) + 1))
: >got
audit export --to "$to" --cursor rude.cursor long || fail "does not go on"
last() {
	[ "$(tail -n 1 got)" = "$(records long)" ]
}
wait_until 60 last || fail "the rest"
[ "$(grep -n "^$first\$" got | cut -d: -f1)" ] || fail "began behind $first: $(head -n 1 got)"
# A cursor beyond the end: the trail was cut, or is another one. The control: one at its end.
sed "s/ [0-9]* *$/ 99999/" rude.cursor >beyond.cursor
printf '%-127s\n' "long $(records long)" >end.cursor
audit export --to "$to" --cursor end.cursor long || fail "control: at the end"
audit export --to "$to" --cursor beyond.cursor long 2>err && fail "beyond the end, and yet"
grep -q "beyond.cursor says that record 99999 of long was sent, and its trail has $(records long) records" err || fail "$(cat err)"
# A cursor is of one session, and a word is no target.
audit export --to "$to" --cursor rude.cursor x 2>err && fail "the cursor belongs to another session"
grep -q 'cursor belongs to another session' err || fail "$(cat err)"

echo "--- a cursor is not written through a link, nor under a second name"
mkdir elsewhere
chmod 755 "$WARD_TMP"
ln -s elsewhere out
audit export --to "$to" --cursor elsewhere/root x || fail "control: no link"
[ -s elsewhere/root ] || fail "control: no cursor"
audit export --to "$to" --cursor out/new x 2>err && fail "through a link of root's"
chown -h 4711:4711 out
for cursor in out/new "$PWD/out/root"; do
	audit export --to "$to" --cursor "$cursor" x 2>err && fail "through a link: $cursor"
	grep -q 'a symbolic link is on the way' err || fail "$(cat err)"
done
[ "$(ls elsewhere)" = root ] || fail "made through a link: $(ls elsewhere)"
ln elsewhere/root second
audit export --to "$to" --cursor second x 2>err && fail "under a second name"
grep -q 'has a second name' err || fail "$(cat err)"
rm elsewhere/root
audit export --to "$to" --cursor second x || fail "control: one name"
audit export --to nowhere x 2>err && fail "no target"
grep -q 'write unix:PATH, tcp:HOST:PORT, tls:HOST:PORT' err || fail "$(cat err)"
