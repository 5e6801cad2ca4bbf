#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs exec when something is stuck: the process that starts commands was stopped from inside,
# or pid 1 from outside.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
trap 'kill -CONT "$(status_of held init_pid)" 2>/dev/null || :; "$WARDFS" kill held 2>/dev/null || :; wait' EXIT

# Everybody that the command can send a signal to; pid 1 and itself are not among them.
"$WARDFS" run --session held -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/exec-held-stop.py")" &
pid=$!
wait_until 60 test -e stopped || fail "not started"
[ -n "$(cat stopped)" ] || fail "control: nobody was stopped"
# The bound ends a hang: without more the command starts when the session ends.
expect 0 timeout 120 "$WARDFS" exec held -- echo on
[ "$OUT" = on ] || fail "$OUT"

# A client that is told to end before its command runs ends, and its command does not run on.
init=$(status_of held init_pid)
kill -STOP "$init"
mark=8$$8
"$WARDFS" exec held -- sleep $mark &
client=$!
asked() {
	"$WARDFS" audit show --kind exec held | grep -q "sleep.*$mark"
}
wait_until 60 asked || fail "the supervisor was not asked"
kill -TERM $client
wait_until 120 gone $client || fail "a client goes on waiting"
rc=0
wait $client || rc=$?
[ $rc = 143 ] || fail "the client's exit status"
kill -CONT "$init"
wait_until 120 sh -c '"$WARDFS" audit show --kind exec held | grep -q "number 2: ended"' || fail "the command runs on"
ended $mark || fail "it runs on"
"$WARDFS" kill held
expect 143 wait $pid
trap - EXIT
exit 0
