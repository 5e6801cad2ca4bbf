#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trail's disk fails: a block that cannot be written (EIO), a file system that turns
# read-only. With on-failure = deny operations fail; with stop the session ends. Either way the
# session fails, everything answered under sync = record is on the disk, and the next start says
# what happened.
# shellcheck disable=SC2016
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for a disk of its own"
	exec unshare -m --propagation private sh "$0" inside
fi
command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is not installed"
mkdir under disk
mount -t tmpfs -o size=24m,mode=0700 tmpfs under || skip "no tmpfs can be mounted here"
XDG_STATE_HOME=$PWD/disk
export XDG_STATE_HOME
project p
cd p || exit 1

# fresh: an empty file system on a device whose file has little room
fresh() {
	umount ../disk 2>/dev/null || :
	rm -f ../under/*
	truncate -s 16m ../under/image
	mkfs.ext4 -q -F -m 0 -b 4096 -E lazy_itable_init=0,nodiscard ../under/image || fail "mkfs"
	mount -o loop ../under/image ../disk || skip "no loop device can be had here"
	# A page at a time: the loop driver takes a write for done of which only the beginning had
	# room.
	device=$(findmnt -no SOURCE ../disk)
	echo 4 >"/sys/block/${device##*/}/queue/max_sectors_kb" || fail "max_sectors_kb"
	rm -rf f* quit ../told
}

# begin POLICY: a session that tells of each file that it made, until one fails
begin() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\non-failure = %s\nsync = record\n' \
		"$1" >../policy
	"$WARDFS" run --policy ../policy --session broken -- sh -c '
		i=0
		while true 2>/dev/null >"f$i"; do echo "f$i"; i=$((i + 1)); done 2>error
		echo stuck
		/bin/true 2>/dev/null && echo "executed without a record"
		true 2>/dev/null >"after" && echo "made without a record"
		until [ -e quit ]; do sleep 0.05; done' >../told 2>../err &
	sup=$!
	wait_until 60 grep -qs f20 ../told || fail "never started: $(cat ../told ../err)"
}

# the disk breaks, in one of two ways
# shellcheck disable=SC2317
no_room() {
	dd if=/dev/zero of=../under/filler bs=64k 2>/dev/null || :
}
# shellcheck disable=SC2317
aborted() {
	mount -o remount,abort ../disk
}

# answered: what was told is in the trail, as the disk has it after its journal was looked through
answered() {
	# Room first: what the file system has kept in memory of its own after it said that it is on
	# disk (extents, inodes; they are in its journal) would be lost by this device at the
	# umount, silently.
	rm -f ../under/filler
	umount ../disk || fail "$1: the disk is in use"
	mount -o loop ../under/image ../disk || fail "$1: the disk cannot be mounted again"
	expect 0 "$WARDFS" run --session next -- true
	python3 "$WARD_SRC/tests/cases/run/lib/disk-errors-told.py" ../disk/wardfs/sessions/broken/trail.jsonl ../told || fail "$1: lost"
	"$WARDFS" audit verify broken >../verdict && fail "$1: verify says: $(cat ../verdict)"
	grep -q ': incomplete: ' ../verdict || fail "$1: verify says: $(cat ../verdict)"
	"$WARDFS" audit verify next >../verdict || fail "$1: the next one: $(cat ../verdict)"
}

for how in no_room aborted; do
	fresh
	begin deny
	$how
	wait_until 250 grep -qs stuck ../told || fail "deny, $how: never failed: $(tail -1 ../told) $(cat ../err)"
	running=$("$WARDFS" ps)
	has "$running" broken
	: >quit
	status=0
	wait "$sup" || status=$?
	[ $status -eq 125 ] || fail "deny, $how: exit $status: $(cat ../err)"
	grep 'without a record' ../told && fail "deny, $how"
	answered "deny, $how"

	fresh
	begin stop
	$how
	status=0
	wait "$sup" || status=$?
	[ $status -eq 125 ] || fail "stop, $how: exit $status: $(cat ../err)"
	grep -q 'cannot write the trail' ../err || fail "stop, $how: $(cat ../err)"
	grep -qE 'log: (Input/output|Read-only|No space left)' ../err || fail "stop, $how, why: $(cat ../err)"
	grep 'without a record' ../told && fail "stop, $how"
	answered "stop, $how"
done
umount ../disk
exit 0
