#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that stops itself takes nothing with it: what it started before goes on, and so does all that
# holds it. Without a terminal the supervisor does not stop; in a shell with job control it does, until
# something needs it.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1
# The child writes on for as long as it is let; its parent stops, or with "on" waits for it.
cat >work.py <<'P'
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for i in range(4000):
        with open("/workspace/log", "a") as f:
            f.write(f"{i}\n")
        time.sleep(0.05)
    os._exit(0)
if sys.argv[1] == "stop":
    os.kill(os.getpid(), signal.SIGSTOP)
os.wait()
P
cat >wall.policy <<'P'
[policy]
version = 1
extends = medium
[limits]
wall  = 3s
grace = 1s
P
python=/usr/bin/python3
wrote() {
	[ "$(wc -l <log)" -ge "$1" ]
}
# The control: the clock ends what goes on, and the work is seen.
expect 124 setsid -w "$WARDFS" run --policy wall.policy -- $python work.py on
wrote 1 || fail "control: nothing was written"
rm log
expect 124 setsid -w "$WARDFS" run --policy wall.policy -- $python work.py stop
has "$ERR" "the wall clock of 3s ended the session"
wrote 1 || fail "nothing was written"
rm log
# It answers, meanwhile and as it always does, and goes on with its command for who asks.
setsid -w "$WARDFS" run --session still -- $python work.py stop 2>err &
runs=$!
wait_until 60 wrote 5 || fail "not started: $(cat err)"
wait_until 60 status_of still pid || fail "no answer"
n=$(wc -l <log)
wait_until 60 wrote $((n + 3)) || fail "control: nothing goes on inside"
expect 0 "$WARDFS" exec still -- sh -c 'cat /proc/[0-9]*/stat | grep -c " T "'
[ "$OUT" = 1 ] || fail "stopped inside: $OUT"
kill -CONT "$(status_of still pid)"
none_stopped() {
	"$WARDFS" exec still -- sh -c '! cat /proc/[0-9]*/stat | grep -q " T "'
}
wait_until 60 none_stopped || fail "the command was not continued"
expect 0 "$WARDFS" kill still
wait $runs
rm log
exec $python "$WARD_SRC/tests/cases/run/_stopped.py"
