#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A closed lifeline, a killed supervisor, the command's end: each ends every process inside.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

# A number no other process has as its argument.
mark=9$$7

# Whole arguments: the shells that were given the script do not count, only what it started.
alive() {
	grep -qszx "$mark" /proc/[0-9]*/cmdline
}

wait_for() { # wait_for yes|no: a minute at most
	i=0
	while [ $i -lt 600 ]; do
		if alive; then now=yes; else now=no; fi
		[ $now = "$1" ] && return 0
		i=$((i + 1))
		sleep 0.1
	done
	return 1
}

# Processes that left the session and the process group, and a parent that waits for none.
script="setsid sh -c 'setsid sleep $mark & sleep $mark' & sleep $mark"

check() {
	# A lifeline: the writing end is closed when its holder goes.
	rm -f "$WARD_TMP/pid"
	mkfifo "$WARD_TMP/line"
	inside "$1" --lifeline --pid "$WARD_TMP/pid" -- sh -c "$script" <"$WARD_TMP/line" 2>"$WARD_TMP/err" &
	run=$!
	exec 8>"$WARD_TMP/line"
	wait_for yes || fail "$1: the control did not start: $(cat "$WARD_TMP/err")"
	exec 8>&-
	wait_for no || fail "$1: processes outlive their lifeline"
	wait $run && rc=0 || rc=$?
	[ "$rc" = 124 ] || fail "$1: exit code $rc"
	grep -q "lifeline 0 closed" "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	rm "$WARD_TMP/line"

	# The supervisor killed: nobody could tell pid 1 any more.
	rm -f "$WARD_TMP/pid"
	inside "$1" --pid "$WARD_TMP/pid" -- sh -c "$script" 8>&- &
	run=$!
	wait_for yes || fail "$1: the control did not start"
	kill -9 "$(supervisor "$WARD_TMP/pid")"
	wait_for no || fail "$1: processes outlive the supervisor"
	wait $run 2>/dev/null || :

	# The command's end, while daemons of it are left.
	inside "$1" -- sh -c "setsid sleep $mark & exit 3" && rc=0 || rc=$?
	[ "$rc" = 3 ] || fail "$1: exit code $rc"
	alive && fail "$1: a daemon outlives the command"
	:
}

# On failure too nothing stays behind.
trap 'if alive; then kill "$(supervisor "$WARD_TMP/pid")"; fi; rm -f "$WARD_TMP/line" "$WARD_TMP/pid"' EXIT
chmod 777 "$WARD_TMP"
each_mode check
