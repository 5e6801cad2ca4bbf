#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that is stopped and continued from inside goes on, when no shell with a terminal waits
# for it. The supervisor does not stop too, because nobody would continue it. stopped.sh has the
# limits meanwhile, and terminal.sh a terminal.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
cat >stops.sh <<'S'
main=$$
stopped() {
	grep -q '^State:.T' /proc/$main/status
}
(
	kill -STOP $main
	until stopped; do sleep 0.1; done
	# Long enough for whoever looks at it to have seen it.
	i=0
	while [ $i -lt 10 ] && stopped; do
		sleep 0.1
		i=$((i + 1))
	done
	stopped && echo "was stopped" >told
	kill -CONT $main
	# A process that starts a program asks the supervisor.
	ls / >/dev/null && echo "goes on" >>told
) &
wait
echo done >>told
S
story="was stopped
goes on
done"
setsid -w timeout 60 sh stops.sh </dev/null || fail "control: outside"
[ "$(cat told)" = "$story" ] || fail "control: $(cat told)"
rm told
expect 0 setsid -w timeout -s KILL 200 "$WARDFS" run --session s -- sh stops.sh </dev/null
[ "$(cat told)" = "$story" ] || fail "$(cat told)"
expect 0 "$WARDFS" audit verify s
exit 0
