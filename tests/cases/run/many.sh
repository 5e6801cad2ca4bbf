#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many sessions one after the other, ended in every way, leave nothing: no process, mount, control
# group, descriptor of the caller's, or file beside their trails.
# shellcheck disable=SC2016
# timeout: 1800
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
n=50
[ -z "${WARD_LONG-}" ] || n=1000
runtime=${XDG_RUNTIME_DIR:-/run}/wardfs
marks=9$$4

# Names and numbers, of what is ours alone: other tests run beside this one.
what_is_there() {
	# Processes that carry this test's directory or mark in their arguments.
	for f in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' <"$f" 2>/dev/null | grep -F -e "$WARD_TMP" -e "$marks" | grep -vF -e "many.sh" -e keeper -e "grep -F" || :
	done
	grep -F "$WARD_TMP" /proc/self/mountinfo || :
	find /sys/fs/cgroup -type d -path "*/wardfs/many$$-*" 2>/dev/null || :
	find "$runtime" -maxdepth 1 -name "many$$-*" 2>/dev/null || :
	find "$XDG_STATE_HOME/wardfs" -mindepth 1 -maxdepth 1 ! -name sessions 2>/dev/null | sort
	find "$XDG_STATE_HOME/wardfs/running" -mindepth 1 2>/dev/null || :
	find /tmp /var/tmp /dev/shm /run -maxdepth 1 -newer ../began -name '*wardfs*many*' 2>/dev/null || :
}
: >../began
"$WARDFS" run --session many$$-first -- true || fail "the first one"
before=$(what_is_there)

# Everything in one process: its descriptors are counted before and after.
python3 "$WARD_SRC/tests/cases/run/lib/many-start.py" "$n" "$WARDFS" "$$" "$marks" || exit 1
same() {
	[ "$(what_is_there)" = "$before" ]
}
wait_until 60 same || fail "before:
$before
after:
$(what_is_there)"
# The control: a session that runs is found by the same look.
"$WARDFS" run --session many$$-now -- sh -c "touch up; exec sleep $marks" &
now=$!
wait_until 60 test -e up || fail "not started"
same && fail "control: a running session is not seen"
"$WARDFS" kill many$$-now
expect 143 wait $now
wait_until 60 same || fail "after the last one: $(what_is_there)"
expect 0 "$WARDFS" audit verify many$$-first
