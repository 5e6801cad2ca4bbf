#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [limits] command ends what an agent's shell tool started, with all descendants, by SIGKILL if
# SIGTERM is ignored. The session continues. Other processes, and commands that end in time, are
# left alone.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir -p p
cd p || exit 1
cp "$WARD_SRC/tests/cases/run/lib/command-agent.py" agent.py
policy() { # policy SECONDS: with the lines of the agents' profiles
	printf '[policy]\nversion = 1\nextends = agent\n[limits]\ncommand = %s\ngrace = 1s\n' "$1" >../p.policy
}
agent() { # agent SECONDS COMMAND...
	"$WARDFS" run --policy ../p.policy --session "$name" -- python3 agent.py "$@"
}
no_sleep() { # the name of a sleep
	! pgrep -x -f "sleep $1" >/dev/null
}
policy 1s

# It and what it started are ended: also what ignores the first signal, and what left the shell but
# not its group.
name=ended
expect 0 agent 0 bash -c "trap '' TERM; (trap '' TERM; sleep 981$$) & sleep 982$$; sleep 983$$"
has "$OUT" "ended -9
after"
for n in 981 982 983; do
	wait_until 60 no_sleep $n$$ || fail "sleep $n is left"
done
has "$ERR" "[limits] command = 1s ended 1 command of the agent: wardfs audit show --kind limit ended"
expect 0 "$WARDFS" audit show --json --kind limit ended
has "$OUT" '"name":"command"'
has "$OUT" "its 1s are over; ended: bash -c trap"
# A command that handles SIGTERM may clean up.
name=cleaned
expect 0 agent 0 sh -c 'trap "echo cleaned; exit 3" TERM; echo ready; while :; do sleep 0.1; done'
has "$OUT" "cleaned
ended 3"

# Left alone: the agent's own programs, its session's first command, what ends in time, what has no
# limit.
name=own
expect 0 agent 0 sleep 2
has "$OUT" "ended 0"
expect 0 "$WARDFS" run --policy ../p.policy -- sh -c 'sleep 2; echo first'
has "$OUT" first
name=quick
expect 0 agent 2 bash -c 'echo quick'
has "$OUT" "ended 0"
hasnt "$ERR" "[limits] command"
policy none
name=without
expect 0 agent 0 bash -c 'sleep 2; echo slept'
has "$OUT" "slept
ended 0"
# A shell beneath such a command has no time of its own: one of each command is what is bounded.
policy 1h
name=nested
expect 0 agent 0 bash -c "bash -c 'echo inner'"
has "$OUT" inner
# The profiles of agents say how their commands look; medium does not, and there the line adds it.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\ncommand = 1s\ngrace = 1s\n' >../p.policy
name=medium
expect 0 agent 0 sh -c 'sleep 2; echo slept'
has "$OUT" slept
printf '[process]\nshell = sh -c\n' >>../p.policy
name=added
expect 0 agent 0 sh -c 'sleep 30; echo slept'
has "$OUT" "ended -15"
hasnt "$OUT" slept
for line in 'shell = bash' 'shell = /bin/bash -c' 'command = 10%'; do
	printf '[policy]\nversion = 1\n[%s]\n%s\n' "$(case $line in shell*) echo process ;; *) echo limits ;; esac)" "$line" >../bad.policy
	expect 2 "$WARDFS" run --policy ../bad.policy -- true
done
expect 0 "$WARDFS" audit verify --all
