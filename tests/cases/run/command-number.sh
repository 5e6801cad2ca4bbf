#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# Attack: a command ends between SIGTERM and SIGKILL of [limits] command. A process of the host gets
# its number, and leads a group of that number. wardfs kills nobody but the command's own processes.
# The control: it kills a process that the command left.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: a namespace of process numbers"
[ -w /proc/sys/kernel/ns_last_pid ] || skip "the kernel cannot be told the next number"
if [ "${1-}" != inside ]; then
	exec unshare --pid --fork --kill-child --mount --mount-proc sh "$0" inside
fi
mkdir p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[process]\nshell = sh -c\n[limits]\ncommand = 2s\ngrace = 8s\n' >../p.policy
# The agent starts a command, which ends at SIGTERM and leaves a process with a group of its own.
cp "$WARD_SRC/tests/cases/run/lib/command-number-agent.py" agent.py
"$WARDFS" run --policy ../p.policy --session number -- python3 agent.py >out 2>err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
number() { # of the command, in the namespace of the host
	pgrep -f '^sh -c setsid sh' | head -n 1
}
wait_until 60 test -e up || fail "no command: $(cat out err)"
wait_until 60 test -e left || fail "control: no process is left"
pid=$(number)
[ -n "$pid" ] || fail "the command is not seen"
wait_until 60 test -e ended || fail "SIGTERM did not end it: $(cat out err)"
unused() { [ ! -e "/proc/$pid" ]; }
wait_until 60 unused || fail "its number is still taken"
# A process of the host with its number, at the head of a group of this number.
python3 "$WARD_SRC/tests/cases/run/lib/command-number-take.py" "$pid"
[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = 'sleep 7302 ' ] || fail "control: nobody has the number: $(cat "/proc/$pid/cmdline")"
[ "$(cut -d' ' -f5 "/proc/$pid/stat")" -eq "$pid" ] || fail "control: it leads no group"
killed() { ! pgrep -f '^sleep 7301' >/dev/null; }
wait_until 60 killed || fail "control: what the command left is not killed: $(cat out err)"
[ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = 'sleep 7302 ' ] || fail "a process of the host was killed"
kill "$pid"
"$WARDFS" kill number
wait $run || :
trap - EXIT
expect 0 "$WARDFS" audit show --json --kind limit number
has "$OUT" '"name":"command"'
