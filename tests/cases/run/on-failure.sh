#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trail's disk is full. With on-failure = deny operations fail until there is room, and the
# trail says so. With stop the session ends.
# shellcheck disable=SC2016
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for a small tmpfs"
	exec unshare -m --propagation private sh "$0" inside
fi
mkdir small
mount -t tmpfs -o size=4m,mode=0700 tmpfs small || skip "no tmpfs can be mounted here"
XDG_STATE_HOME=$PWD/small
export XDG_STATE_HOME
project p
cd p || exit 1

filled() {
	rm -f ../small/filler
	dd if=/dev/zero of=../small/filler bs=64k count=48 2>/dev/null
}
# begin POLICY: a session that makes files until one fails, then tries one until it works
begin() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\non-failure = %s\nsync = %s\n' \
		"$1" "$2" >../policy
	rm -rf ../small/wardfs ../told
	# The index of the session before may still be made, in files that have no name any more.
	wait_until 60 filled || fail "no room: $(df ../small)"
	"$WARDFS" run --policy ../policy --session "$1-$2" -- sh -c '
		i=0
		/bin/true || echo "the control fails"
		while true >"f$i"; do i=$((i + 1)); done 2>error
		cat error
		echo stuck
		/bin/true 2>/dev/null && echo "executed without a record"
		until true >again; do sleep 0.05; done 2>/dev/null
		echo went on' >../told 2>../err &
	sup=$!
}

for sync in batch record; do
	begin deny $sync
	wait_until 250 grep -qs stuck ../told || fail "never full: $(cat ../told ../err)"
	rm ../small/filler
	status=0
	wait "$sup" || status=$?
	[ $status -eq 0 ] || fail "deny: exit $status: $(cat ../err)"
	grep -q 'went on' ../told || fail "deny: $(cat ../told)"
	grep -e 'the control fails' -e 'without a record' ../told && fail "deny: $(cat ../told)"
	rc=0
	"$WARDFS" audit verify "deny-$sync" >verdict 2>&1 || rc=$?
	[ $rc -le 1 ] || fail "verify: exit $rc: $(cat verdict); $(df ../small)"
	grep -q ': gap: ' verdict || fail "deny: $(cat verdict)"
	rm -f f* again
done

begin stop batch
status=0
wait "$sup" || status=$?
[ $status -eq 125 ] || fail "stop: exit $status: $(cat ../err)"
grep -q 'cannot write the trail' ../err || fail "stop: $(cat ../err)"
grep -q 'went on' ../told && fail "stop: it went on"
exit 0
