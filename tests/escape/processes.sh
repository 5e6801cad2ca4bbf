#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Other processes: the host's do not exist inside, and nothing can touch pid 1.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

sleep 600 &
host=$!
trap 'kill $host 2>/dev/null || :' EXIT

check() {
	# The host's process has no number inside.
	out=$(inside "$1" -- sh -c 'ls /proc | grep -c "^[0-9]*$"')
	[ "$out" -le 4 ] || fail "$1: $out processes are visible"
	blocked "$1" ESRCH kill "$host" 0
	blocked "$1" EPERM ptrace 1
	blocked "$1" EPERM read-memory 1
	blocked "$1" EPERM write-memory 1
	blocked "$1" EPERM take-fd 1 3
	# Landlock refuses the signal since ABI 6. Before, the kernel drops it: pid 1 of a namespace
	# takes none from inside that it does not handle. The last check shows that pid 1 lives on.
	if [ "$(inside "$1" --facts -- true 2>&1 | sed -n 's/^landlock \([0-9]*\) .*/\1/p')" -ge 6 ]; then
		blocked "$1" EPERM kill 1 9
	else
		works inside "$1" -- sh -c '/attack kill 1 9'
	fi
	# Nor may it be slowed down, so that it is late when all has to end; oneself and others may.
	for how in scheduler affinity nice io limit; do
		blocked "$1" EPERM slow $how 1
		works inside "$1" -- /attack slow $how 0
		works inside "$1" -- sh -c "sleep 60 & /attack slow $how \$!; rc=\$?; kill \$!; exit \$rc"
	done
	blocked "$1" EPERM slow user 0
	blocked "$1" EPERM slow group 1
	works inside "$1" -- /attack slow group 0
	# One's own child may be killed, but not traced.
	inside "$1" -- sh -c 'sleep 60 & kill -9 $!' || fail "$1: a child cannot be killed"
	for how in ptrace read-memory write-memory "take-fd 1"; do
		# take-fd PID 1: the number stands last
		out=$(inside "$1" -- sh -c 'sleep 60 & if [ "$1" = "take-fd 1" ]; then /attack take-fd $! 1; else
			/attack "$1" $!; fi; rc=$?; kill -9 $!; exit $rc' sh "$how") && fail "$1: $how of a child"
		[ "$out" = EPERM ] || fail "$1: $how of a child: $out"
	done
	# pid 1 says nothing about itself; its environment is empty on top of that.
	for file in environ maps mem fd/3 root exe cwd; do
		inside "$1" -- cat "/proc/1/$file" >/dev/null 2>&1 && fail "$1: /proc/1/$file was read"
	done
	# All signals to everybody: pid 1 lives on and reports the exit code.
	inside "$1" -- sh -c 'for s in TERM KILL STOP HUP INT; do kill -$s 1 2>/dev/null; done; exit 7' &&
		rc=0 || rc=$?
	[ "$rc" = 7 ] || fail "$1: pid 1 answered signals from inside: $rc"
}

works "$ATTACK" kill "$host" 0
works "$ATTACK" ptrace "$host"
works "$ATTACK" read-memory "$host"
works "$ATTACK" write-memory "$host"
works "$ATTACK" take-fd "$host" 1
for how in scheduler affinity nice io limit; do
	works "$ATTACK" slow $how "$host"
done
# All processes of an id that has no other.
root_works setpriv --reuid 4321 --regid 4321 --clear-groups "$ATTACK" slow user 0
cat "/proc/$host/environ" >/dev/null || fail "control: environ"
each_mode check
