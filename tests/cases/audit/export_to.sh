#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exports to syslog: rsyslog takes every record once, over TCP and a unix socket; an export that was
# killed, or whose other side went away, goes on with the next one.
set -u
. "$WARD_SRC/tests/support/audit.sh"

pids=
end_helpers() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
}
trap end_helpers EXIT
# until_true CMD…: bounded
until_true() {
	i=0
	until "$@" >/dev/null 2>&1; do
		i=$((i + 1))
		[ $i -lt 1200 ] || return 1
		sleep 0.05
	done
}

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
until_true test -S log || fail "rsyslog: $(cat rsyslog.out)"
until_true test -s tcp.port || fail "rsyslog: $(cat rsyslog.out)"
port=$(cat tcp.port)
up() {
	python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port"
}
until_true up || fail "rsyslog: $(cat rsyslog.out)"
audit export --to "tcp:127.0.0.1:$port" --cursor tcp.cursor x || fail "over TCP"
audit export --to "unix:$PWD/log" --format cef x || fail "over a unix socket"
arrived() {
	[ "$(wc -l <"$1")" -ge "$(records x)" ]
}
until_true arrived tcp.out || fail "TCP: $(wc -l tcp.out)"
until_true arrived unix.out || fail "unix: $(wc -l unix.out)"
# again: there is nothing left to send
audit export --to "tcp:127.0.0.1:$port" --cursor tcp.cursor x || fail "again"
python3 - <<'END' || fail "what rsyslog has"
import json, re, socket
trail = [json.loads(l) for l in open("state/sessions/x/trail.jsonl")]
for name in "tcp", "unix":
    lines = open(name + ".out", encoding="utf-8", newline="\n").read().split("\n")[:-1]
    assert len(lines) == len(trail), (name, len(lines))
    for line, r in zip(lines, trail):
        m = re.fullmatch(r'(\S+) wardfs (\S+) \[wardfs@32473 session="x" seq="(\d+)" mac="([0-9a-f]{64})"\] ?(.*)', line)
        assert m, line
        assert (m[2], int(m[3]), m[4]) == (r["kind"], r["seq"], r["mac"]), line
        assert json.loads(m[5]) == r if name == "tcp" else m[5].startswith("CEF:0|wardfs|"), line
END

# An other side that takes its time, so that an export can be killed in the midst of it.
cat >slow.py <<'END'
import os, re, socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
with open("port.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename("port.new", "port")
rude = sys.argv[1] == "rude"
out = open("got", "a")
while True:
    c, _ = s.accept()
    buf, n = b"", 0
    while True:
        data = c.recv(65536)
        if not data:
            break
        buf += data
        while (m := re.match(rb"(\d+) ", buf)) and len(buf) >= m.end() + int(m[1]):
            msg, buf = buf[m.end():m.end() + int(m[1])], buf[m.end() + int(m[1]):]
            out.write(re.search(rb'seq="(\d+)"', msg)[1].decode() + "\n")
            n += 1
        out.flush()
        if rude and n > 200:
            rude = False
            break
        while n > 200 and not os.path.exists("go"):
            time.sleep(0.02)
    c.close()
END
slow() {
	rm -f port got
	python3 slow.py "$1" &
	slow_pid=$!
	pids="$pids $slow_pid"
	until_true test -s port || fail "no port"
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
until_true stands || fail "never waits: $(cat long.cursor)"
kill -9 "$child"
dead() {
	! kill -0 "$child"
}
until_true dead || fail "it lives"
wait "$export_pid" 2>/dev/null
at=$(cursor long.cursor)
[ "$at" -lt "$(records long)" ] || fail "it was not in the midst of it: $at"
: >go
audit export --to "$to" --cursor long.cursor long || fail "does not go on"
[ "$(cursor long.cursor)" -eq "$(records long)" ] || fail "the cursor: $(cat long.cursor)"
all() {
	[ "$(sort -nu got | wc -l)" -eq "$(records long)" ]
}
until_true all || fail "lost: $(sort -nu got | wc -l) of $(records long)"
[ "$(wc -l <got)" -eq "$(records long)" ] || fail "doubled: $(sort -n got | uniq -d | sed -n "1p;\$p") cursor $at, $(cat err)"
kill "$slow_pid"
wait "$slow_pid"
pids=$rsyslog

# An other side that goes away: that is said, and the next run goes on with what it had not taken.
slow rude
audit export --to "$to" --cursor rude.cursor long 2>err && fail "nobody is there, and yet"
grep -q 'goes on where it was taken' err || fail "what to do: $(cat err)"
[ "$(cursor rude.cursor)" -lt "$(records long)" ] || fail "the cursor: $(cat rude.cursor)"
first=$(($(cursor rude.cursor) + 1))
: >got
audit export --to "$to" --cursor rude.cursor long || fail "does not go on"
last() {
	[ "$(tail -n 1 got)" = "$(records long)" ]
}
until_true last || fail "the rest"
[ "$(grep -n "^$first\$" got | cut -d: -f1)" ] || fail "began behind $first: $(head -n 1 got)"
# A cursor is of one session, and a word is no target.
audit export --to "$to" --cursor rude.cursor x 2>err && fail "the cursor of another session"
grep -q 'cursor of another session' err || fail "$(cat err)"
audit export --to nowhere x 2>err && fail "no target"
grep -q 'unix:PATH or tcp:HOST:PORT' err || fail "$(cat err)"
