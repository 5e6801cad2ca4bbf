#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole sessions of root and of an ordinary user. Project, home and trail are on btrfs, xfs with
# reflinks, tmpfs and overlayfs.
# timeout: 900
# shellcheck disable=SC2154
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
IMAGE=$WARD_TMP/image
AT=$WARD_TMP/at
mkdir "$AT"

on_disk() {
	truncate -s 400M "$IMAGE"
	"$@" "$IMAGE" >"$WARD_TMP/mkfs" 2>&1 || fail "$*: $(cat "$WARD_TMP/mkfs")"
	mount -o loop "$IMAGE" "$AT"
}

for kind in btrfs xfs tmpfs overlay; do
	case $kind in
	btrfs) on_disk mkfs.btrfs ;;
	xfs) on_disk mkfs.xfs -m reflink=1 ;;
	tmpfs) mount -t tmpfs tmpfs "$AT" ;;
	overlay)
		mkdir "$WARD_TMP/lower" "$WARD_TMP/upper" "$WARD_TMP/work"
		mount -t overlay -o "lowerdir=$WARD_TMP/lower,upperdir=$WARD_TMP/upper,workdir=$WARD_TMP/work" \
			overlay "$AT"
		;;
	esac
	chmod 755 "$AT"
	home "$AT/user"
	mkdir "$AT/root"
	case $kind in btrfs | xfs)
		# The control: this file system shares blocks.
		cp --reflink=always "$WARD_SRC/README.md" "$AT/root/" 2>/dev/null || {
			cp "$WARD_SRC/README.md" "$AT/root/"
			cp --reflink=always "$AT/root/README.md" "$AT/root/copy" || fail "$kind: no reflinks"
		}
		;;
	esac
	(
		cd "$AT/root"
		export HOME="$AT/root" XDG_STATE_HOME="$AT/root/state"
		eval "$session"
		session "$AT/root/w"
	) || fail "$kind, root"
	owner "$AT/user" "$session"'session "$HOME/w"' || fail "$kind, the user"
	umount "$AT"
	rm -f "$IMAGE"
	echo "$kind: root and the user"
done
