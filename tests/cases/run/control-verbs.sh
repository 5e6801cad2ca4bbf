#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests at the control sockets of `wardfs run` and `wardfs mount`: each socket takes its own
# requests, says why it refuses others, and continues. Each refusal has its control.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap '"$WARDFS" kill r1 >/dev/null 2>&1 || :; "$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
mkdir src mnt project
asked() { # SESSION REQUEST DESCRIPTORS OK-AND-STATUS ERROR
	got=$(python3 "$WARD_SRC/tests/cases/run/lib/control-verbs-ask.py" "$1" "$2" "$3")
	[ "$got" = "$4 $5" ] || fail "$1: $2 with $3: $got"
}

(cd project && exec "$WARDFS" run --session r1 -- sh -c ': >ready; exec sleep 300' >out 2>&1) &
ready() { [ -e project/ready ]; }
wait_until 60 ready || fail "the session does not begin: $(cat project/out)"
expect 0 "$WARDFS" mount --session m1 src mnt

# A word that nobody takes, and none at all.
for session in r1 m1; do
	asked "$session" '{"verb":"stat"}' 0 'False 125' 'this session does not take such a request'
	asked "$session" '{"word":"status"}' 0 'False 2' 'the request cannot be understood'
	asked "$session" 'status' 0 'False 2' 'the request cannot be understood'
	asked "$session" '{"verb":"reload"}' 0 "False 2" "'reload' needs 1 descriptors, and 0 arrived"
	asked "$session" '{"verb":"reload"}' 2 "False 2" "'reload' needs 1 descriptors, and 2 arrived"
	asked "$session" '{"verb":"status"}' 1 "False 2" "'status' needs 0 descriptors, and 1 arrived"
	asked "$session" '{"verb":"kill"}' 1 "False 2" "'kill' needs 0 descriptors, and 1 arrived"
done
asked r1 '{"verb":"exec","argv":["true"]}' 2 "False 2" "'exec' needs 3 descriptors, and 2 arrived"
asked r1 '{"verb":"exec","argv":["true"]}' 4 "False 2" "'exec' needs 3 descriptors, and 4 arrived"

# Clients that say nothing keep nobody waiting. The session keeps eight of them, and hears them when
# they ask.
for session in r1 m1; do
	got=$(python3 "$WARD_SRC/tests/cases/run/lib/control-verbs-silent.py" "$session")
	[ "$got" = "$session 4 7" ] || fail "$session: silent clients: $got"
done

# Descriptors that take an hour to close, of 40 clients each: the session goes on meanwhile. The
# control is in cases/audit/system-flight.
flight=
for session in r1 m1; do
	socket=$XDG_RUNTIME_DIR/wardfs/$session/control
	[ -S "$socket" ] || fail "no $socket"
	for request in x '{"verb":"status"}' '{"verb":"exec","argv":["true"]}'; do
		: >sent
		python3 "$WARD_SRC/tests/cases/audit/lib/system-flight.py" "$socket" 40 "$request" >sent &
		flight="$flight $!"
		wait_until 120 grep -q sent sent || fail "the attack does not begin"
	done
	sleep 2
	asked "$session" '{"verb":"status"}' 0 "$([ $session = r1 ] && echo run || echo mount) -" -
done
expect 0 timeout 60 "$WARDFS" exec r1 true
# shellcheck disable=SC2086 # several
kill $flight

# Each kind of session has some that the other one lacks.
asked r1 '{"verb":"umount"}' 0 'False 125' 'this session does not take such a request'
expect 125 "$WARDFS" exec m1 true
has "$ERR" "does not take such a request"

# Control: they are there all the same, and take what is theirs.
asked r1 '{"verb":"status"}' 0 'run -' -
asked m1 '{"verb":"status"}' 0 'mount -' -
expect 0 "$WARDFS" exec r1 true
# A file that a session made is no secret to it. explain cannot see that: it names the session and
# the command that asks it.
expect 0 "$WARDFS" exec r1 -- sh -c 'echo made >.env'
explained() { (cd project && "$WARDFS" policy explain read .env); }
expect 1 explained
has "$OUT" "Session r1 is running"
expect 0 "$WARDFS" exec r1 -- ls -l /workspace/.env
expect 0 "$WARDFS" umount mnt
expect 0 "$WARDFS" kill r1
# It is gone by then: nobody waits for that.
expect 0 "$WARDFS" ps
hasnt "$OUT" r1
expect 1 explained
hasnt "$OUT" "Session r1"
rc=0
wait $! || rc=$?
[ "$rc" -eq 143 ] || fail "the session was not ended by the request: $rc"
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
wait_until 60 over || fail "still there: $("$WARDFS" ps)"
