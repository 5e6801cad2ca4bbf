#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One disk has the project and the trail, and a session fills it. The trail has space of its own: a
# session that ends then is recorded whole, the agent can remove files, and works on. Nothing that
# was answered is missing.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for a disk of its own"
	exec unshare -m --propagation private sh "$0" inside
fi
AGENT=$WARD_SRC/tests/cases/run/lib/full-disk-agent.py
mkdir disk
XDG_STATE_HOME=$PWD/disk/state
export XDG_STATE_HOME

# fresh KIND: an empty disk with a project; an ordinary user cannot use what root has in reserve
fresh() {
	umount disk 2>/dev/null || :
	rm -f image
	truncate -s "$2" image
	case $1 in
	ext4) mkfs.ext4 -q -F -m 0 image ;;
	xfs) mkfs.xfs -q image ;;
	esac || fail "mkfs.$1"
	if [ "$1" = tmpfs ]; then
		mount -t tmpfs -o "size=$2" tmpfs disk || fail "no tmpfs can be mounted"
	else
		mount -o loop image disk || skip "no loop device can be had here"
	fi
	mkdir -m 700 disk/state
	project disk/p
	mkdir disk/p/d
	echo something >disk/p/seen
	cp "$AGENT" disk/p/agent.py
}

run() {
	(cd disk/p && expect 0 "$WARDFS" run --session "$1" -- python3 agent.py "$2" && printf '%s\n' "$OUT" >../../told)
}

state_of() {
	"$WARDFS" audit verify --json "$1" >verify.json || [ $? -eq 1 ] || fail "verify"
	python3 -c 'import json; print(json.load(open("verify.json"))[0]["state"])'
}

for kind in ext4 xfs tmpfs; do
	[ $kind = tmpfs ] || command -v mkfs.$kind >/dev/null || continue
	size=48M
	[ $kind != xfs ] || size=320M
	echo "--- $kind: it ends while the disk is full"
	fresh $kind $size
	run ends fill
	[ "$(state_of ends)" = intact ] || fail "ends: $(cat verify.json)"
	"$WARDFS" audit verify --all >said || fail "all: $(cat said)"
	blocks=$(stat -c %b disk/state/wardfs/sessions/ends/trail.jsonl)
	[ "$blocks" -lt $(($(stat -c %s disk/state/wardfs/sessions/ends/trail.jsonl) / 512 + 1000)) ] || fail "the space in reserve is not given back: $blocks blocks"
	# The next one has no room for its trail.
	dd if=/dev/zero of=disk/more bs=4096 2>/dev/null || :
	expect 0 "$WARDFS" doctor
	has "$OUT" "the disk of $XDG_STATE_HOME/wardfs is full"
	(cd disk/p && "$WARDFS" run --session late -- true >../../out 2>../../err) && fail "a session without room"
	has "$(cat err)" "No space left on device"

	echo "--- $kind: it makes room by itself"
	fresh $kind $size
	run frees free
	grep -q '^look: EIO' told || fail "control: the reserve is never used: $(cat told)"
	grep -q '^removed: 20$' told || fail "$(cat told)"
	[ -e disk/p/again ] || fail "no file with room again"
	[ "$(state_of frees)" = gap ] || fail "frees: $(cat verify.json)"
	"$WARDFS" audit show --json frees >shown
	grep -q 'the disk was full since .* except that names were removed' shown || fail "the gap is not told"
	[ "$(grep -c '"kind":"remove".*/d/' shown)" -eq 20 ] || fail "removals are missing"
	run next fill || fail "the next session"
done

echo "--- what is left is for the end: until somebody makes room outside, nothing is done"
fresh ext4 48M
(cd disk/p && "$WARDFS" run --session holds -- python3 agent.py hold >../../told 2>../../err) &
session=$!
wait_until 300 grep -qs '^remove:' told || fail "removals are never refused: $(cat told err)"
grep -q '^remove: EIO' told || fail "$(cat told)"
rm disk/p/filler
touch disk/p/go
wait $session || fail "holds: $(cat told err)"
grep -q '^again$' told || fail "$(cat told)"
[ "$(state_of holds)" = gap ] || fail "holds: $(cat verify.json)"
removed=$(sed -n 's/^remove: EIO //p' told)
"$WARDFS" audit show --json holds >shown
[ "$(grep -c '"kind":"remove".*/d/' shown)" -ge "$removed" ] || fail "removals without a record"
umount disk
