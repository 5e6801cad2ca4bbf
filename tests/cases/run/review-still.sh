#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A mark has one moment of a file into which a program stores through a mapping all the time: where
# the session has a group of cgroup v2, its programs stand still meanwhile. Whoever is killed then,
# nothing stays frozen.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
trap steps_end EXIT
[ "$(id -u)" = 0 ] || skip "a control group of its own needs root"
grep -q ' cgroup2 ' /proc/mounts || skip "no cgroup v2"

MIB=64
fresh
cp "$WARD_SRC/tests/cases/run/lib/review-still-counts.py" counts.py
cp "$WARD_SRC/tests/cases/run/lib/review-still-agrees.py" agrees.py
own
counting() {
	"$WARDFS" exec "$1" -- python3 counts.py big "$2" >"$WARD_TMP/counting" 2>&1 &
	counter=$!
	wait_until 60 grep -q counts "$WARD_TMP/counting" || fail "$(cat "$WARD_TMP/counting")"
}
frozen() { # frozen NAME: its group is
	find /sys/fs/cgroup -path "*/wardfs/$1*/cgroup.freeze" -exec cat {} + 2>/dev/null | grep -qx 1
}
# stands_still NAME: is being marked, by $marks. Where the disk is fast it takes some tries to see.
stands_still() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		: >"$WARD_TMP/marked"
		"$WARDFS" review mark -s "$1" "mark$try" >"$WARD_TMP/marked" 2>&1 &
		marks=$!
		while [ ! -s "$WARD_TMP/marked" ]; do
			if frozen "$1"; then return 0; fi
		done
		wait "$marks" || :
	done
	return 1
}
steps_session one
counting one $MIB

echo "--- control: a copy that is made meanwhile has two moments of it"
tries=0
while inside one 'cp big copy && python3 agrees.py copy' >/dev/null; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || fail "control: the program does not count fast enough"
done

echo "--- marks from outside and from inside"
for i in 1 2 3 4; do
	expect 0 "$WARDFS" review mark -s one "outside$i"
	inside one "python3 -c 'import os; os.setxattr(\".\", \"user.wardfs.mark\", b\"inside$i\")'"
done
! frozen one || fail "it stands still"
a=$(inside one 'python3 agrees.py big' || :)
b=$(inside one 'python3 agrees.py big' || :)
[ "$a" != "$b" ] || fail "control: it does not count any more"
inside one 'pkill -KILL -f counts.py' || :
wait "$counter" || :
for i in 1 2 3 4; do
	for who in outside inside; do
		expect 0 "$WARDFS" review back -s one "$who$i"
		inside one 'python3 agrees.py big' || fail "$who$i"
	done
done
steps_over one

echo "--- killed while it stands still: nothing is left"
for whom in fs supervisor both; do
	steps_session "k-$whom"
	counting "k-$whom" 256
	fs=$(status_of "k-$whom" fs_pid)
	stands_still "k-$whom" || fail "control: $whom: it did not stand still: $(cat "$WARD_TMP/marked")"
	case $whom in
	fs) kill -KILL "$fs" ;;
	supervisor) kill -KILL "$pid" ;;
	both) kill -KILL "$fs" "$pid" ;;
	esac
	wait "$marks" || :
	wait "$pid" || :
	# The start of another session lets go on what nobody is left for.
	[ "$whom" != both ] || expect 0 "$WARDFS" run -- true
	wait "$counter" || :
	gone_all() { ! find /sys/fs/cgroup -path "*/wardfs/k-$whom*/cgroup.procs" -exec cat {} + 2>/dev/null | grep -q .; }
	wait_until 60 gone_all || fail "$whom: processes are left"
	expect 0 "$WARDFS" run -- true
done
