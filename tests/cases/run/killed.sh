#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of any of our processes ends the agent's processes, leaves no mount, and the trail says
# so.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

mark=9$$7
ready() { [ -n "$(status_of "$1" init_pid)" ]; }

for victim in fs_pid audit_pid init_pid pid; do
	name=kill-$victim
	"$WARDFS" run --session "$name" -- sh -c "setsid sleep $mark & touch here; sleep $mark" 2>err &
	sup=$!
	wait_until 60 test -e here || fail "$victim: not started: $(cat err)"
	rm -f here
	wait_until 60 ready "$name" || fail "ps does not know $name"
	pid=$(status_of "$name" "$victim")
	init=$(status_of "$name" init_pid)
	fs=$(status_of "$name" fs_pid)
	audit=$(status_of "$name" audit_pid)
	wait_until 60 running "$mark" || fail "$victim: control: the agent does not run"
	kill -9 "$pid"
	wait_until 60 ended "$mark" || fail "$victim: agent processes are left"
	status=0
	wait "$sup" || status=$?
	case $victim in
	pid) [ "$status" -eq 137 ] || fail "$victim: exit $status" ;;
	*) [ "$status" -eq 125 ] || fail "$victim: exit $status: $(cat err)" ;;
	esac
	for p in "$init" "$fs" "$audit"; do
		wait_until 60 gone "$p" || fail "$victim: process $p is left"
	done
	grep ' fuse.wardfs ' /proc/self/mountinfo && fail "$victim: a mount is left"
	"$WARDFS" audit verify "$name" >verdict 2>&1 || [ $? -eq 1 ]
	grep -qE 'incomplete|died|ended' verdict || fail "$victim: verify says: $(cat verdict)"
	grep -qE 'edited|truncated|deleted|reordered' verdict && fail "$victim: verify says: $(cat verdict)"
done
[ "$("$WARDFS" ps --json 2>&1)" = "[]" ] || fail "ps still shows: $("$WARDFS" ps)"

# wardfs-fs that does not end with its mount is ended, and the trail says what can be missing.
if [ -n "${WARD_LONG-}" ]; then
	mkfifo hold
	"$WARDFS" run --session late -- sh -c 'read x' <hold 2>err &
	sup=$!
	exec 9>hold
	ready late || wait_until 60 ready late || fail "late: not started: $(cat err)"
	[ -n "$(status_of late fs_pid)" ] || fail "late: no fs_pid"
	kill -STOP "$(status_of late fs_pid)"
	echo >&9
	exec 9>&-
	wait "$sup" || : # the trail is what is looked at
	"$WARDFS" audit show --json late | grep '"session.end"' | grep -q 'wardfs-fs did not end in time' ||
		fail "late: $("$WARDFS" audit show late)"
fi

# wardfs kill ends a session in order.
"$WARDFS" run --session polite -- sh -c "touch here; sleep $mark" 2>err &
sup=$!
wait_until 60 test -e here || fail "not started"
"$WARDFS" kill polite || fail "kill"
rc=0
wait "$sup" || rc=$?
[ $rc -eq 143 ] || fail "exit after wardfs kill"
"$WARDFS" audit verify polite >verdict || fail "$(cat verdict)"
"$WARDFS" kill polite 2>/dev/null && fail "killed a session that is gone"
exit 0
