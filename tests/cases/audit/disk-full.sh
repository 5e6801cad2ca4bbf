#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The disk fills up. Operations fail, and no acknowledged operation is lost. When there is room
# again, the trail continues and says what happened.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for a small tmpfs"
	# The mount is seen here alone and goes with the process.
	exec unshare -m --propagation private sh "$0" inside
fi

mkdir state
mount -t tmpfs -o size=8m,mode=0700 tmpfs state || skip "no tmpfs can be mounted here"
dd if=/dev/zero of=state/filler bs=1M count=6 2>/dev/null
run --session full --events 7000 --threads 2 --free state/filler
grep -q "log failed" run.err || fail "the disk was never full"
check_acked full
[ "$(wc -l <acked)" -lt 14000 ] || fail "nothing was refused while the disk was full"
case $(state_of full) in
"gap "*" 0") ;;
*) fail "$(state_of full)" ;;
esac
grep -q 'the log could not be written since .*No space left' state/sessions/full/trail.jsonl ||
	fail "the gap is not told"

rm -rf state/* # the control: the same load with room
mount -o remount,size=64m state
run --session roomy --events 10000 --threads 2
[ "$(wc -l <acked)" -eq 20000 ] || fail "control: operations were refused"
[ "$(state_of roomy)" = "intact 20002 0" ] || fail "control: $(state_of roomy)"

# No room to compress: the plain segment stays as it is, and nothing half done is left.
rm -rf state/*
run --session packed --events 4000
size=$(stat -c %s state/sessions/packed/trail.jsonl)
mount -o remount,size=$((size / 1024 + 128))k state || fail "remount"
audit prune >said 2>err && fail "control: it was compressed where there is no room: $(cat said)"
grep -q 'No space left' err || fail "$(cat err)"
[ "$(ls state/sessions/packed)" = "$(printf 'checkpoints\npolicy\ntrail.jsonl')" ] ||
	fail "$(ls -l state/sessions/packed)"
[ "$(state_of packed)" = "intact 4002 0" ] || fail "no room to compress: $(state_of packed)"
mount -o remount,size=64m state
audit prune >said || fail "prune, with room"
[ -e state/sessions/packed/trail.jsonl.zst ] || fail "not compressed: $(cat said)"
[ "$(state_of packed)" = "intact 4002 0" ] || fail "compressed: $(state_of packed)"
rm -rf state/*
run --session roomy --events 10

# No room for an entry of the ledger: it fails, and nothing of it is left. Neither is anything of a
# checkpoint. The control: with room the same entries are there.
mount -o remount,size=$(($(df -k --output=used state | tail -n 1) + 24))k state
long=$(printf '%0900d' 0)
n=0
while audit hold --reason "$long" roomy >/dev/null 2>err; do
	n=$((n + 1))
	[ $n -lt 200 ] || fail "the disk is never full"
done
grep -q 'No space left' err || fail "$(cat err)"
[ $n -gt 0 ] || fail "control: not one entry had room"
agree "a full disk under the ledger"
grep -q "^ledger intact $((n + 2)) 0\$" mine || fail "after $n entries: $(cat mine)"
for verb in 'key rotate' 'release --reason over' 'remove --force --reason over'; do
	case $verb in key*) ;; *) verb="$verb roomy" ;; esac
	# shellcheck disable=SC2086
	audit $verb >said 2>err || grep -q 'No space left\|on hold' err || fail "$verb: $(cat err)"
	agree "a full disk, $verb"
	grep -q "^ledger intact " mine || fail "$verb: $(cat mine)"
done
mount -o remount,size=64m state
expect 0 audit hold --reason "$long" roomy
expect 0 audit release --reason over roomy
run --session more --events 10
agree "room again"
grep -q "^ledger intact " mine || fail "with room: $(cat mine)"

mount -o remount,ro state
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" \
	>/dev/null 2>err && fail "a session starts where no trail can be written"
grep -q "Read-only file system" err || fail "$(cat err)"
