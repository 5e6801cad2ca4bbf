#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trees on other file systems than this machine's. Random system calls give the same answers there
# as natively (probe.sh), and so does truncating a file to its present size.
# timeout: 1200
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

if [ "${1-}" != mounted ]; then
	for kind in xfs btrfs tmpfs overlay; do
		unshare --mount --propagation private sh -eu "$0" mounted $kind || fail "$kind"
	done
	exit 0
fi

kind=$2
DISK=$WARD_TMP/disk
mkdir -p "$DISK"
case $kind in
tmpfs) mount -t tmpfs -o mode=755 tmpfs "$DISK" ;;
overlay)
	mkdir -p "$WARD_TMP/lower" "$WARD_TMP/upper" "$WARD_TMP/work"
	mount -t overlay -o "lowerdir=$WARD_TMP/lower,upperdir=$WARD_TMP/upper,workdir=$WARD_TMP/work" \
		overlay "$DISK"
	;;
*)
	grep -qw "$kind" /proc/filesystems || exit 0
	truncate -s 400M "$WARD_TMP/image"
	"mkfs.$kind" -q "$WARD_TMP/image" >"$WARD_TMP/mkfs" 2>&1
	mount -o loop "$WARD_TMP/image" "$DISK"
	chmod 755 "$DISK"
	;;
esac
BACK=$DISK/back
native=$DISK/native

cp "$WARD_SRC/tests/cases/fs/lib/probe.py" "$WARD_TMP/probe.py"
seeds="5 7 11"
# Holes of which a mapping makes data natively.
[ "$kind" != tmpfs ] || seeds="$seeds 1186227322 1985826836 2141049132 3582121764"
policy
printf 'hardlinks = allow\n' | sed -i '/^source/r /dev/stdin' "$POLICY"
# By truncate(2), xfs and btrfs leave the times of a file that has that size already.
same_size='import os
for how in os.truncate, lambda f, n: os.ftruncate(os.open(f, os.O_RDWR), n):
    open("sized", "w").write("content")
    os.utime("sized", (10 ** 9, 10 ** 9))
    how("sized", 7)
    print("kept" if os.stat("sized").st_mtime == 10 ** 9 else "changed")'
for mode in $MODES; do
	fresh
	rm -rf "$native"
	mkdir "$native"
	chown "$OWNER:$OWNER" "$native"
	# shellcheck disable=SC2086 # numbers
	in_mode "$mode" -c 'exec python3 "$@"' - "$WARD_TMP/probe.py" "$native" "$MNT" 0 $seeds ||
		fail "$mode: probe"
	want=$(cd "$native" && python3 -c "$same_size")
	got=$(in_mode "$mode" -c 'python3 -c "$1"' - "$same_size")
	[ "$got" = "$want" ] || fail "$mode: truncated to the same size: $got, natively $want"
	case $kind in xfs | btrfs) has "$want" 'kept
changed' ;; esac
done
umount "$DISK"
rm -f "$WARD_TMP/image"
