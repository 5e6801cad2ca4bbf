#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The exit statuses and messages of `wardfs run`.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

expect 0 "$WARDFS" run -- true
[ -z "$OUT$ERR" ] || fail "silent when all is well: $OUT$ERR"
expect 1 "$WARDFS" run -- false
expect 42 "$WARDFS" run sh -c 'exit 42'
# The options behind the command are the command's own.
expect 0 "$WARDFS" run echo --policy nowhere
has "$OUT" "--policy nowhere"
expect 143 "$WARDFS" run -- sh -c 'kill -TERM $$'
expect 127 "$WARDFS" run -- no-such-program-here
has "$ERR" "no-such-program-here"
echo 'not a program' >plain
expect 126 "$WARDFS" run -- ./plain
expect 2 "$WARDFS" run
expect 2 "$WARDFS" run --no-such-option -- true
expect 2 "$WARDFS" nonsense
expect 2 "$WARDFS" run --session 'a/b' -- true

# A broken policy: file, line, what is wrong, the nearest right spelling; nothing is started.
printf '[policy]\nversion = 1\n[files]\nwrit = /workspace\n' >bad.policy
expect 2 "$WARDFS" run --policy bad.policy -- touch started
has "$ERR" "bad.policy:4"
has "$ERR" "write"
[ ! -e started ] || fail "the command ran under a broken policy"

# Modes whose machinery does not exist yet are refused by name.
expect 125 "$WARDFS" run --engine kata -- touch started
has "$ERR" "kata"
expect 2 "$WARDFS" run --mode nonsense -- true
[ ! -e started ] || fail "the command ran in a mode that does not exist"

# Keys whose machinery does not exist yet: refused by name and line.
printf '[policy]\nversion = 1\nextends = medium\n[container]\nrm = no\n' >later.policy
expect 125 "$WARDFS" run --policy later.policy -- touch started
has "$ERR" "later.policy:5"
has "$ERR" "[container] rm"
[ ! -e started ] || fail "the command ran without the limit"

# The wall clock.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 1s\n' >wall.policy
expect 124 "$WARDFS" run --policy wall.policy -- sleep 60
has "$ERR" "wall clock"
expect 124 "$WARDFS" run --policy wall.policy -- sh -c 'trap "" TERM; setsid sleep 60 & sleep 60'

# The command's own status, also where pid 1 ends with words of the supervisor unread: its last word
# stands behind the reset of the connection.
quiet() {
	grep -q '^ShdPnd:.*0000000000000000$' "/proc/$sup/status" && grep -q '^State:.S' "/proc/$sup/status"
}
mkfifo hold
"$WARDFS" run --status-fd 3 -- sh -c 'read -r x <hold' 3>events 2>said &
sup=$!
wait_until 120 grep -q '"started"' events || fail "the session did not start: $(cat said)"
init=$(sed -n 's/.*"init_pid": *\([0-9]*\).*/\1/p' events)
# found: what runs, in $command. Its arguments can be read only once its execve has come to its end.
found() {
	for command in $(cat "/proc/$init/task/$init/children"); do
		! tr '\0' ' ' <"/proc/$command/cmdline" | grep -q hold || return 0
	done
	return 1
}
wait_until 120 found || fail "no command: $(cat "/proc/$init/task/$init/children")"
kill -STOP "$init"
for sig in USR1 USR2 WINCH; do
	kill -"$sig" "$sup"
	wait_until 120 quiet || fail "the supervisor does not read its signals"
done
kill -KILL "$command"
# It hears of the end only once pid 1 is gone.
kill -STOP "$sup"
kill -CONT "$init"
wait_until 120 gone "$init" || fail "pid 1 outlives its command"
kill -CONT "$sup"
got=0
wait "$sup" || got=$?
[ "$got" -eq 137 ] || fail "exit $got instead of 137: $(cat said events)"
hasnt "$(cat said)" "pid 1"

# Home and root are never a workspace.
cd / || exit 1
expect 2 "$WARDFS" run -- true
cd "$HOME" || exit 1
expect 2 "$WARDFS" run -- true
has "$ERR" "home"
exit 0
