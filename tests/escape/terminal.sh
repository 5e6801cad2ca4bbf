#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Terminals: no typing into them, job control works.
set -eu
. "$(dirname "$0")/lib.sh"

check() {
	refused "$1" EPERM tiocsti
	refused "$1" EPERM tiocsti high
	out=$(inside "$1" --pty -- sh -c 'tty; stty size; test -t 0 && test -t 1 && echo yes' </dev/null |
		tr -d '\r' | tr '\n' ' ')
	[ "$out" = "/dev/pts/0 24 80 yes " ] || fail "$1: pty: $out"
	# The caller sees a stop and continues it (sandboxrun does so at once).
	out=$(inside "$1" --pty -- sh -c 'kill -TSTP $$; echo continued' 2>"$WARD_TMP/err" </dev/null |
		tr -d '\r')
	[ "$out" = continued ] || fail "$1: after a stop: $out"
	grep -q '^sandboxrun: stopped 20$' "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	# Ctrl-Z and Ctrl-C through the terminal: the line discipline makes signals of them.
	out=$(printf '\032' | inside "$1" --pty -- sh -c 'sleep 0.5; echo continued' \
		2>"$WARD_TMP/err" | tr -d '\r')
	grep -q '^sandboxrun: stopped 20$' "$WARD_TMP/err" ||
		fail "$1: Ctrl-Z: $out $(cat "$WARD_TMP/err")"
	printf '\003' | inside "$1" --pty -- sleep 60 >/dev/null && rc=0 || rc=$?
	[ "$rc" = 130 ] || fail "$1: Ctrl-C: exit code $rc"
	# An interactive shell's own job control.
	out=$(printf 'set +o history\nsleep 60 &\nkill %%1\nwait %%1\necho rc=$?\nexit\n' |
		inside "$1" --pty -- bash --norc -i | tr -d '\r')
	echo "$out" | grep -q '^rc=143' || fail "$1: job control: $out"
}

[ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 0 ] || :
works "$ATTACK" tiocsti
works "$ATTACK" tiocsti high
each_mode check
