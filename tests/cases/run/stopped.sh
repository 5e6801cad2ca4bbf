#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that stops itself stops nothing else: what it started continues, and so does the
# session's supervision. Without a terminal the supervisor keeps running. In a shell with job
# control it stops until something needs it.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
# The child writes on for as long as it is let; its parent stops, or with "on" waits for it.
cp "$WARD_SRC/tests/cases/run/lib/stopped-work.py" work.py
cat >wall.policy <<'P'
[policy]
version = 1
extends = medium
[limits]
wall  = 20s
grace = 1s
P
python=/usr/bin/python3
wrote() {
	[ "$(wc -l <log)" -ge "$1" ]
}
# The same in a terminal, and by the clock alone, beside what follows: each in a project of its own.
# beside NAME CMD...
beside() {
	mkdir "../$1" && cp work.py wall.policy "../$1" && cd "../$1" || exit 1
	shift
	exec "$@"
}
(beside terminal $python "$WARD_SRC/tests/cases/run/lib/stopped.py") &
terminal=$!
for how in on stop; do
	(beside $how setsid -w "$WARDFS" run --policy wall.policy -- $python work.py $how 2>../err.$how) &
	eval "$how=\$!"
done
# It answers, meanwhile and as it always does, and goes on with its command for who asks.
setsid -w "$WARDFS" run --session still -- $python work.py stop 2>err &
runs=$!
wait_until 60 wrote 5 || fail "not started: $(cat err)"
answers() {
	[ -n "$(status_of still pid)" ]
}
wait_until 60 answers || fail "no answer"
n=$(wc -l <log)
wait_until 60 wrote $((n + 3)) || fail "control: nothing goes on inside"
stopped_inside() {
	"$WARDFS" exec still -- sh -c 'cat /proc/[0-9]*/stat | grep -c " T "'
}
one_stopped() {
	[ "$(stopped_inside)" = 1 ]
}
wait_until 60 one_stopped || fail "stopped inside: $(stopped_inside)"
kill -CONT "$(status_of still pid)"
none_stopped() {
	"$WARDFS" exec still -- sh -c '! cat /proc/[0-9]*/stat | grep -q " T "'
}
wait_until 60 none_stopped || fail "the command was not continued"
expect 0 "$WARDFS" kill still
expect 143 wait $runs
# The control: the clock ends what goes on, and the work is seen.
# shellcheck disable=SC2154 # by eval
for how in on stop; do
	eval "pid=\$$how"
	status=0
	wait "$pid" || status=$?
	[ $status -eq 124 ] || fail "$how: exit $status: $(cat "../err.$how")"
	has "$(cat "../err.$how")" "the wall clock of 20s ended the session"
	[ -s "../$how/log" ] || fail "$how: nothing was written"
done
wait $terminal || fail "in a terminal"
