#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs exec runs another command in a running session, under all its rules, and records it.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mark=9$$8
printf '[policy]\nversion = 1\nextends = medium\n[files]\nhide = *.pem\n' >../base.policy
echo secret >key.pem

# session NAME [OPTION...]: one that runs until it is killed; $pid is its supervisor.
session() {
	name=$1
	shift
	"$WARDFS" run --session "$name" "$@" -- sh -c "touch up-$name; exec sleep $mark" &
	pid=$!
	wait_until 60 test -e "up-$name" || fail "$name did not start"
}
over() {
	"$WARDFS" kill "$1"
	expect 143 wait "$pid"
}
trap '"$WARDFS" ps --json | sed -n '"'"'s/.*"session": "\(.*\)".*/\1/p'"'"' | xargs -rn1 "$WARDFS" kill || :; wait' EXIT
session one --policy ../base.policy
wait_until 60 pgrep -f "^sleep $mark\$" || fail "the command does not run"
before=$(readlink "/proc/$(pgrep -f "^sleep $mark\$" | head -n 1)/ns/mnt")

# exec does not take descriptors along that lead past the sandbox; the control: a file, by a
# descriptor that can read it.
expect 0 "$WARDFS" exec one -- cat <../base.policy
has "$OUT" 'hide = *.pem'
expect 2 "$WARDFS" exec one -- true <..
has "$ERR" "standard input is a directory"
expect 2 python3 -c 'import os, subprocess, sys
sys.exit(subprocess.run(sys.argv[1:], stdin=os.open("../base.policy", os.O_PATH)).returncode)' \
	"$WARDFS" exec one -- true
has "$ERR" "standard input is a path"

# Many that end at once: each is heard of, with its own status.
i=0
while [ $i -lt 8 ]; do
	i=$((i + 1))
	sh -c 'for n in 1 2 3 4 5; do
		got=0
		timeout 120 "$WARDFS" exec one -- sh -c "exit $0" 2>said-$0 || got=$?
		[ $got = "$0" ] || echo "$0: $got: $(cat said-$0)" >>many-failed
		got=0
		timeout 120 "$WARDFS" exec one -- /nowhere 2>said-$0 || got=$?
		[ $got = 127 ] || echo "$0: $got of what is not there: $(cat said-$0)" >>many-failed
	done; : >many-$0' $i &
done
wait_until 300 sh -c '[ $(ls many-[1-8] | wc -l) = 8 ]' || fail "some commands never ended: $("$WARDFS" ps)"
[ ! -e many-failed ] || fail "$(cat many-failed)"
rm many-[1-8] said-[1-8]

# The same where pid 1 is slow to ask who has ended: it hears of a command when that is over
# already.
init=$(status_of one init_pid)
traced() {
	grep -q "^TracerPid:[[:space:]]*$tracer\$" "/proc/$init/status"
}
if [ "$(id -u)" -eq 0 ] && strace -o /dev/null true 2>/dev/null; then
	strace -qq -o /dev/null -e trace=waitid -e inject=waitid:delay_enter=100000 -p "$init" 2>../strace.err &
	tracer=$!
	wait_until 60 traced || fail "not traced: $(cat ../strace.err)"
	running=
	for i in 3 4 5 6; do
		sh -c 'timeout 120 "$WARDFS" exec one -- sh -c "exit $0" 2>said-$0
			echo "$0: $?" >got-$0' $i &
		running="$running $!"
	done
	for pid_of_one in $running; do
		wait "$pid_of_one"
	done
	kill $tracer
	wait $tracer || [ $? -eq 143 ]
	[ "$(cat got-[3-6])" = "3: 3
4: 4
5: 5
6: 6" ] || fail "slow to ask: $(cat got-[3-6] said-[3-6])"
	rm got-[3-6] said-[3-6]
fi

# The same session: processes, files, namespaces, ids, environment, start directory.
expect 0 "$WARDFS" exec one -- sh -c 'pwd; echo "$WARDFS_SESSION $HOME"; ls'
has "$OUT" "$PWD"
has "$OUT" one
hasnt "$OUT" key.pem
expect 0 "$WARDFS" exec one -- sh -c "pgrep -f '^sleep $mark\$' >/dev/null && readlink /proc/self/ns/mnt"
[ "$OUT" = "$before" ] || fail "another namespace: $OUT, not $before"
expect 0 "$WARDFS" exec one -- sed -n 's/^\(Seccomp\|NoNewPrivs\|CapEff\):[[:space:]]*//p' /proc/self/status
[ "$OUT" = "0000000000000000
1
2" ] || fail "$OUT"
expect 0 "$WARDFS" exec one -- sh -c 'ls /proc/self/fd | tr "\n" " "' 9</etc/passwd
[ "$OUT" = "0 1 2 3 " ] || fail "descriptors: $OUT"
# The walls: what the first command may not, this one may not.
expect 1 "$WARDFS" exec one -- cat key.pem
expect 1 "$WARDFS" exec one -- touch /usr/bin/x
expect 1 "$WARDFS" exec one -- unshare -U true
# One Landlock domain: it may signal what the session started, and nothing of ours.
expect 0 "$WARDFS" exec one -- sh -c "sleep 97 & kill \$! && pgrep -f '^sleep $mark\$' | xargs kill -0"
expect 1 "$WARDFS" exec one -- kill -0 1

# Input, output, exit status, arguments, variables.
OUT=$(echo in | "$WARDFS" exec one cat) || fail "cat"
[ "$OUT" = in ] || fail "$OUT"
expect 7 "$WARDFS" exec --env A=1 --env HOME=/x --cwd /tmp one -- sh -c 'echo "$A $HOME $PWD" "$1"; exit 7' sh 'a  b'
[ "$OUT" = "1 /x /tmp a  b" ] || fail "$OUT"
expect 137 "$WARDFS" exec one -- sh -c 'kill -9 $$'
expect 127 "$WARDFS" exec one -- no-such-program
expect 126 "$WARDFS" exec one -- /etc/hosts
expect 125 "$WARDFS" exec --cwd /nowhere one -- true
# Many at once.
for i in 1 2 3 4 5; do
	"$WARDFS" exec one -- sh -c "echo $i" >"../many.$i" &
	last=$!
done
wait $last
wait_until 60 sh -c 'cat ../many.5 && cat ../many.? | grep -c . | grep -qx 5' || fail "many at once"
# Its client gone: the command is ended.
"$WARDFS" exec one -- sh -c "trap '' HUP; touch hung; while :; do sleep 0.1; done" sh "h$mark" &
client=$!
wait_until 60 test -e hung || fail "not started"
running "h$mark" || fail "control: it is not seen"
kill -9 $client
wait_until 60 ended "h$mark" || fail "it goes on without its client"

# From inside nobody can ask: no path leads to the socket, and a process of the session is refused
# by it.
expect 2 "$WARDFS" exec nobody -- true
init=$("$WARDFS" ps --json | sed -n 's/.*"init_pid": \([0-9]*\).*/\1/p')
expect 125 nsenter --target "$init" --pid -- "$WARDFS" exec one -- touch inside
has "$ERR" "from no process inside"
[ ! -e inside ] || fail "a process inside had a command run"
# The control: the same from outside.
expect 0 "$WARDFS" exec one -- touch outside
[ -e outside ] || fail "control"
expect 1 "$WARDFS" exec one -- sh -c 'test -e "${XDG_RUNTIME_DIR:-/run}/wardfs"'

over one
expect 2 "$WARDFS" exec one -- true
has "$ERR" "no session 'one' is running"
expect 0 "$WARDFS" audit show --json --kind exec one
printf '%s\n' "$OUT" | grep '"touch","outside"' | grep -q '"uid":0' || fail "$OUT"
has "$OUT" '"status":7'
expect 0 "$WARDFS" audit verify one

# no-exec means it: nothing else runs there. And a policy without terminals gives none.
printf '[policy]\nversion = 1\nextends = medium\n[process]\nseccomp = no-exec\nterminal = no\n' >../no.policy
"$WARDFS" run --session two --policy ../no.policy -- /usr/bin/python3 -c '
import time
open("up-two", "w")
time.sleep(600)' &
pid=$!
wait_until 60 test -e up-two || fail "two did not start"
expect 125 "$WARDFS" exec two -- true
has "$ERR" "no other program run"
over two
# One that is too slow.
{ cat ../base.policy && printf '[limits]\ncommand = 1s\n'; } >../brief.policy
session brief --policy ../brief.policy
expect 124 "$WARDFS" exec brief -- sleep 98$$
has "$ERR" "[limits] command"
over brief
expect 0 "$WARDFS" audit show --json --kind exec brief
has "$OUT" "ended by [limits] command"
# The end of the session is the end of what was started beside it.
session three
"$WARDFS" exec three -- sh -c 'touch beside; exec sleep 96'$$ &
client=$!
wait_until 60 test -e beside || fail "not started"
over three
rc=0
wait $client || rc=$?
[ $rc = 137 ] || fail "the session ended, the client did not say so"
wait_until 60 ended "96$$" || fail "it outlived its session"
exit 0
