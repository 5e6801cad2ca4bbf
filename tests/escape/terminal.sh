#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Terminals: no process can inject input, and job control works.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

wait_for_text() { # wait_for_text FILE PATTERN
	i=0
	until grep -q "$2" "$1" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 600 ] || fail "no $2 in: $(cat "$1")"
		sleep 0.1
	done
}

open_terminal() { # open_terminal MODE SCRIPT: what is written on 9 is typed
	rm -f "$WARD_TMP/in" "$WARD_TMP/out"
	mkfifo "$WARD_TMP/in"
	inside "$1" --pty -- sh -c "$2" <"$WARD_TMP/in" >"$WARD_TMP/out" 2>"$WARD_TMP/err" &
	run=$!
	exec 9>"$WARD_TMP/in"
	wait_for_text "$WARD_TMP/out" '^ready'
}

close_terminal() { # close_terminal EXIT_CODE
	wait $run && rc=0 || rc=$?
	exec 9>&-
	[ $rc = "$1" ] || fail "exit code $rc, not $1"
}

check() {
	blocked "$1" EPERM tiocsti
	blocked "$1" EPERM tiocsti high
	blocked "$1" EPERM tiocsti linux
	blocked "$1" EPERM tiocsti discipline
	out=$(inside "$1" --pty -- sh -c 'tty; stty size; test -t 0 && test -t 1 && echo yes' </dev/null |
		tr -d '\r' | tr '\n' ' ')
	[ "$out" = "/dev/pts/0 24 80 yes " ] || fail "$1: pty: $out"
	# The caller sees a stop and continues it (sandboxrun does so at once).
	out=$(inside "$1" --pty -- sh -c 'kill -TSTP $$; echo continued' 2>"$WARD_TMP/err" </dev/null |
		tr -d '\r')
	[ "$out" = continued ] || fail "$1: after a stop: $out"
	grep -q '^sandboxrun: stopped 20$' "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	# Ctrl-Z and Ctrl-C through the terminal: the line discipline makes signals of them. Sent
	# once the command waits in a read of its own.
	open_terminal "$1" 'echo ready; read -r line; echo "got $line"'
	printf '\032' >&9
	wait_for_text "$WARD_TMP/err" '^sandboxrun: stopped 20$'
	echo word >&9
	close_terminal 0
	grep -q '^got word' "$WARD_TMP/out" || fail "$1: Ctrl-Z: $(cat "$WARD_TMP/out")"
	open_terminal "$1" 'echo ready; read -r line; exit 9'
	printf '\003' >&9
	close_terminal 130
	# The command is stopped while a job of its own has the terminal: it goes on too.
	open_terminal "$1" 'set -m; sh -c "kill -STOP \$PPID; echo ready; read -r line"; echo continued'
	wait_for_text "$WARD_TMP/err" '^sandboxrun: stopped 19$'
	echo word >&9
	wait_for_text "$WARD_TMP/out" '^continued'
	close_terminal 0
	# An interactive shell's own job control. On one line: between two prompts the shell may
	# report the end of the job and forget it. KILL, since the shell ignores TERM and its child
	# does until its exec.
	out=$(printf 'set +o history\nsleep 60 & kill -KILL %%1; wait %%1; echo rc=$?\nexit\n' |
		inside "$1" --pty -- bash --norc -i | tr -d '\r')
	echo "$out" | grep -q '^rc=137' || fail "$1: job control: $out"
}

root_works "$ATTACK" tiocsti
root_works "$ATTACK" tiocsti high
root_works "$ATTACK" tiocsti linux
root_works "$ATTACK" tiocsti discipline
each_mode check
