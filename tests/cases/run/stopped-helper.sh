#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Somebody stops a helper of a session, and then `wardfs kill` ends the session. The helper goes on
# for the end, so the trail is whole, and names the helper. A writer that somebody stops again and
# again is ended, and a second one ends the trail. The control is the same end without a stop.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[network]\nmode = allowlist\nallow = example.org:443\n' >../net.policy
stopped=
trap '[ -z "$stopped" ] || kill -CONT $stopped 2>/dev/null || :' EXIT
# begin NAME: a session that writes all the time, and has a file open that its end closes. Sets run.
begin() {
	"$WARDFS" run --policy ../net.policy --session "$1" -- \
		sh -c 'exec 9>open; while :; do date >f; sleep 0.05; done' 2>"../err.$1" &
	run=$!
	name=$1
	wait_until 60 answers || fail "not started: $(cat "../err.$1")"
}
answers() {
	[ -n "$(status_of "$name" pid)" ]
}
# The child of that name; it is given to the test by no other way.
child() {
	ps -o pid=,comm= --ppid "$run" | awk -v name="$1" '$2 == name { print $1; exit }'
}
# stop PID: and it is.
stop() {
	kill -STOP "$1"
	wait_until 60 grep -q '^State:.T' "/proc/$1/status" || fail "not stopped: $1"
}
end_of() {
	"$WARDFS" audit show --json "$1" 2>/dev/null | tail -n 1 | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["kind"] == "session.end", r
print(r["text"], r.get("detail", {}).get("stopped"))'
}

echo "--- the control: nobody stops anything"
begin control
expect 0 "$WARDFS" kill control
expect 143 wait $run
expect 0 "$WARDFS" audit verify control
[ "$(end_of control)" = "ended by wardfs kill None" ] || fail "$(end_of control)"

for helper in wardfs-audit wardfs-fs wardfs-net; do
	echo "--- $helper"
	begin "$helper"
	stopped=$(child "$helper")
	stop "$stopped"
	expect 0 "$WARDFS" kill "$helper"
	expect 143 wait $run
	expect 0 "$WARDFS" audit verify "$helper"
	[ "$(end_of "$helper")" = "ended by wardfs kill ['$helper']" ] || fail "$helper: $(end_of "$helper")"
	gone "$stopped" || fail "$helper outlives its session"
done

echo "--- each child of wardfs-net ends with it"
begin count
n=$(ps -o pid= --ppid "$(child wardfs-net)" | wc -l)
[ "$n" -ge 2 ] || fail "control: wardfs-net has $n children"
expect 0 "$WARDFS" kill count
wait $run || :
for i in $(seq "$n"); do
	begin "child$i"
	stopped=$(ps -o pid= --ppid "$(child wardfs-net)" | awk -v i="$i" 'NR == i { print $1 }')
	stop "$stopped"
	expect 0 "$WARDFS" kill "child$i"
	expect 143 wait $run
	wait_until 60 gone "$stopped" || fail "child $i outlives its session"
done

echo "--- a writer that is stopped again and again"
begin again
stopped=$(child wardfs-audit)
kill -STOP "$stopped"
python3 "$WARD_SRC/tests/cases/run/lib/stopped-helper-again.py" "$stopped" &
stopper=$!
"$WARDFS" kill again || [ $? -eq 1 ]
got=0
wait $run || got=$?
wait $stopper
case $got in
# It may finish between two stops.
143) ;;
125)
	has "$(cat ../err.again)" "the writer did not answer and was ended; a second one wrote what was left"
	expect 1 "$WARDFS" audit verify again
	has "$OUT" "incomplete: the writer did not answer and was ended"
	;;
*) fail "exit $got: $(cat ../err.again)" ;;
esac
gone "$stopped" || fail "the writer outlives its session"
