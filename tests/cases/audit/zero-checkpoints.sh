#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host stopped, and the end of the file of checkpoints is zeros: the file system had kept its
# size, and not what was appended. The trail is incomplete, as it is without that end. Zeros
# elsewhere, or behind the checkpoints of a session that ended, are edits. So are zeros among the
# checkpoints of the ledger. Those at their end do not count, and the next append removes them.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session ended --events 30 --checkpoint 10
# As if the host had stopped: nobody is left who could write the end.
points=state/sessions/killed/checkpoints
mkfifo hold
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" --session killed \
	--events 300 --checkpoint 50 --hold <hold >acked 2>run.err &
supervisor=$!
exec 9>hold
wait_until 60 sh -c "[ \"\$(grep -c '^wardfs/trail/killed\$' $points)\" -gt 5 ]" ||
	fail "too few checkpoints: $(cat $points run.err)"
kill -STOP $supervisor
for writer in $(cat /proc/$supervisor/task/*/children); do
	kill -KILL "$writer"
	wait_until 60 gone "$writer" || fail "the writer lives"
done
kill -KILL $supervisor
wait $supervisor || :
exec 9>&-
cp -a state good
was=$(state_of killed)
case $was in
"incomplete "*" 0") ;;
*) fail "control: $was" ;;
esac

# put PYTHON: the checkpoints of the killed session become what this makes of the bytes d
put() {
	rm -rf state
	cp -a good state
	python3 -c '
import sys
d = open(sys.argv[1], "rb").read()
at = [i for i in range(len(d)) if d.startswith(b"wardfs/trail/killed\n", i)]
open(sys.argv[1], "wb").write(eval(sys.argv[2]))' $points "$1"
}

# From the last checkpoint on; from its middle on; two of them; and pages behind the last one.
for form in 'd[:at[-1]] + bytes(len(d) - at[-1])' 'd[:at[-1] + 90] + bytes(4096)' \
	'd[:at[-2]] + bytes(len(d) - at[-2])' 'd + bytes(9000)'; do
	put "$form"
	[ "$(state_of killed)" = "$was" ] || fail "$form: $(state_of killed), not $was"
	agree "$form"
done

for form in 'd[:at[-2]] + bytes(at[-1] - at[-2]) + d[at[-1]:]' 'd + b"x\n" + bytes(9000)'; do
	put "$form"
	case $(state_of killed) in
	"edited "*) ;;
	*) fail "$form: $(state_of killed)" ;;
	esac
	agree "$form"
done
put d
head -c 300 /dev/zero >>state/sessions/ended/checkpoints
[ "$(state_of ended | cut -d' ' -f1)" = edited ] || fail "zeros behind the end: $(state_of ended)"
agree "zeros behind the end"

# ledger_put PYTHON: the ledger's checkpoints become what this makes of the bytes d
ledger_put() {
	rm -rf state
	cp -a good state
	python3 -c '
import re, sys
d = open(sys.argv[1], "rb").read()
at = [m.start() for m in re.finditer(rb"^wardfs\.[0-9a-f]+/ledger$", d, re.M)]
open(sys.argv[1], "wb").write(eval(sys.argv[2]))' state/ledger.checkpoints "$1"
}
# ledger_said STATE WHAT: of the ledger, by both
ledger_said() {
	agree "$2"
	[ "$(head -n 1 mine | cut -d' ' -f2)" = "$1" ] || fail "$2: $(head -n 1 mine), not $1"
}

put d
was=$(wc -c <state/ledger.checkpoints)
ledger_said intact "control: the ledger"
for form in 'd + bytes(300)' 'd + bytes(9000)' 'd + d[at[-1]:][:60] + bytes(5000)'; do
	ledger_put "$form"
	ledger_said intact "$form"
	run --session next --events 3
	ledger_said intact "$form, and the next session"
	tr -d '\0' <state/ledger.checkpoints | cmp -s - state/ledger.checkpoints || fail "$form: zeros stay"
	[ "$(wc -c <state/ledger.checkpoints)" -gt "$was" ] || fail "$form: no checkpoint after it"
done
for form in 'd[:at[-1]] + bytes(len(d) - at[-1]) + d[at[-1]:]' 'd + b"x\n" + bytes(9000)'; do
	ledger_put "$form"
	ledger_said edited "$form"
done
