#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session lost its supervisor and writer at once, as in a host crash. The next start writes its
# end, with a gap that says what can be missing. With sync = record, every answered operation is
# there.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
STATE=${XDG_STATE_HOME:-}/wardfs
[ -d "${XDG_STATE_HOME:-}" ] || fail "the suite gives no state directory"

# policy SYNC
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\nsync = %s\n' "$1" >../policy
}

# One file after the other; each that was made is told outside. It ends when it is ended.
WORK='i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); : >"f$i" && echo "f$i"; done; exec sleep 600'

# begin NAME: a session at work; sets $sup and $audit
begin() {
	rm -f f* ../told
	"$WARDFS" run --policy ../policy --session "$1" -- sh -c "$WORK" >../told 2>../err &
	sup=$!
	wait_until 60 grep -q f20 ../told || fail "$1: not started: $(cat ../err)"
	audit=$(status_of "$1" audit_pid)
	[ -n "$audit" ] || fail "ps does not know $1"
}

# all_told NAME: every file that the command told of is in the trail
all_told() {
	python3 "$WARD_SRC/tests/cases/run/lib/crashed-told.py" "$STATE/sessions/$1/trail.jsonl" ../told || fail "$1: records are missing"
}

for sync in record batch; do
	policy $sync
	# The writer alone dies: what waits for it fails, nothing hangs.
	begin "w-$sync"
	kill -9 "$audit"
	rc=0
	wait "$sup" || rc=$?
	[ $rc -eq 125 ] || fail "w-$sync: exit $rc: $(cat ../err)"
	all_told "w-$sync"
	"$WARDFS" audit verify "w-$sync" >verdict || [ $? -eq 1 ]
	grep -q 'incomplete' verdict || fail "w-$sync: $(cat verdict)"
	[ ! -e "$STATE/running/w-$sync" ] || fail "w-$sync: its mark is left"

	# Supervisor and writer at once.
	begin "b-$sync"
	kill -STOP "$sup" "$audit"
	kill -9 "$sup" "$audit"
	expect 137 wait "$sup"
	wait_until 60 gone "$audit" || fail "b-$sync: the writer is left"
	[ -e "$STATE/running/b-$sync" ] || fail "b-$sync: no mark"
	"$WARDFS" audit verify "b-$sync" >verdict || [ $? -eq 1 ]
	grep -q 'did not come to the end' verdict || fail "b-$sync: $(cat verdict)"
	[ $sync = batch ] || all_told "b-$sync"
	# As after a boot: another one's id in the mark.
	[ $sync = record ] || sed -i 's/ [0-9a-f]*-/ 00000000-/' "$STATE/running/b-$sync"
	"$WARDFS" run --session "after-$sync" -- true 2>../err || fail "after: $(cat ../err)"
	"$WARDFS" audit verify "b-$sync" >verdict || [ $? -eq 1 ]
	case $sync in
	record) grep -q 'incomplete: all processes of the session were killed at once' verdict ;;
	batch) grep -q 'incomplete: the host stopped; sync = batch: records of up to a second' verdict ;;
	esac || fail "b-$sync: $(cat verdict)"
	"$WARDFS" audit show --json --kind gap "b-$sync" 2>../err | grep -q '"text":"recovery: ' ||
		fail "b-$sync: no gap"
	[ ! -e "$STATE/running/b-$sync" ] || fail "b-$sync: its mark is left"
	[ ! -e "$STATE/running/after-$sync" ] || fail "after-$sync: its mark is left"
	"$WARDFS" audit verify "after-$sync" || fail "after-$sync: not intact"
done

# A session that runs is left alone by those that start beside it.
policy batch
begin long
"$WARDFS" run --session beside -- true || fail "beside"
[ -e "$STATE/running/long" ] || fail "the mark of a running session was taken"
"$WARDFS" audit verify long >verdict || [ $? -eq 1 ]
grep -q 'the session is running' verdict || fail "$(cat verdict)"
"$WARDFS" kill long || fail "kill"
expect 143 wait "$sup"
"$WARDFS" audit verify long || fail "long is not intact"
exit 0
