#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A project on an overlay whose layers are on two file systems, as live systems have them. Inode
# numbers name no file there, so wardfs refuses the run and says why. Controls: with xino=on they
# do, and on one file system, too.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root, to mount"
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside
fi
mkdir lower memory project disk
mount -t tmpfs tmpfs memory
mkdir lower/d
echo below >lower/file
echo beneath >lower/d/file

# on LAYERS OPTIONS: mounts it, with the upper one in that directory
on() {
	rm -rf "$1/upper" "$1/work"
	mkdir "$1/upper" "$1/work"
	mount -t overlay -o "lowerdir=lower,upperdir=$1/upper,workdir=$1/work,$2" overlay project
	echo above >project/new
}

works() {
	(
		cd project || exit 1
		expect 0 "$WARDFS" run -- sh -c 'cat file new d/file; echo more >>file; cat file'
		[ "$OUT" = "below
above
beneath
below
more" ] || fail "$1: $OUT $ERR"
	) || exit 1
	umount project
}

on memory xino=off
[ "$(stat -c %d project)" != "$(stat -c %d project/file)" ] || fail "control: the kernel gives both one number"
(
	cd project || exit 1
	expect 125 "$WARDFS" run -- touch never
	has "$ERR" "is on an overlay whose layers are on several file systems"
	has "$ERR" "fix: mount the overlay with xino=on"
	[ ! -e never ] || fail "it ran"
) || exit 1
umount project

on memory xino=on
works xino=on
on disk xino=off
works "one file system"
umount memory
