#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The disk that has project, home and trail fills up during a session, on three file systems. The
# command gets ENOSPC, and the trail says what it lacks. With room again, the session goes on, and
# the next one works.
# timeout: 600
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
IMAGE=$WARD_TMP/image
AT=$WARD_TMP/at
mkdir "$AT"
for kind in ext4 xfs btrfs; do
	truncate -s 320M "$IMAGE"
	"mkfs.$kind" "$IMAGE" >"$WARD_TMP/mkfs" 2>&1 || fail "$kind: $(cat "$WARD_TMP/mkfs")"
	mount -o loop "$IMAGE" "$AT"
	chmod 755 "$AT"
	home "$AT/user"
	home "$WARD_TMP/said"
	# What the session prints goes to another disk.
	owner "$AT/user" 'WARD_TMP=$1
		mkdir p && cd p && git init -q .
		cp "$WARD_SRC/tests/machine/lib/full-disk-fill.py" fill.py
		expect 0 "$WARDFS" run --session full -- python3 fill.py
		has "$OUT" ENOSPC
		[ "$(cat again)" = room ] || fail "with room again: $ERR"
		rc=0
		"$WARDFS" audit verify --json full >verified || rc=$?
		echo "full: $(tr -d " \n" <verified)"
		case $rc$(tr -d " \n" <verified) in
		0*\"intact\"*) ;;
		1*\"gap\"*) "$WARDFS" audit show --json full | grep -q "could not be written since .*No space left" || fail "the gap is not told" ;;
		*) fail "verify: $(cat verified)" ;;
		esac
		expect 0 "$WARDFS" run --session after -- touch after
		expect 0 "$WARDFS" audit verify after' "$WARD_TMP/said" &
	session=$!
	wait_until 300 sh -c '[ "$(wc -l <"$1")" -eq 3 ]' sh "$WARD_TMP/said/.out" ||
		fail "$kind: it does not become full: $(cat "$WARD_TMP/said/.out" "$WARD_TMP/said/.err")"
	rm "$AT/user/p/filler"
	touch "$AT/user/p/go"
	wait $session || fail "$kind"
	umount "$AT"
	rm "$IMAGE"
done
