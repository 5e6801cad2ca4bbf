# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016
# An empty Debian of a test's own.
#
#   debian [SUITE]  makes it in $root, from the mirror of this host: Debian 12 unless a suite is
# named; skips where that cannot be done
#   inside STEP  runs $root/steps.sh STEP there, as root, with /proc, /dev and a /dev/fuse; its
# output: log
set -eu
. "$WARD_SRC/tests/lib.sh"

debian() {
	[ "$(id -u)" -eq 0 ] || skip "debootstrap takes root"
	# The mirror of this host, with its settings (proxy, keys): none is named here.
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
		sed -n 's/ bookworm main$//p' | head -n 1)
	[ -n "$mirror" ] && command -v debootstrap >/dev/null ||
		skip "debootstrap and the package lists of a Debian 12 are needed"
	root=$PWD/debian
	debootstrap --variant=minbase --include=ca-certificates "${1-bookworm}" "$root" "$mirror" >log 2>&1 ||
		fail "debootstrap: $(tail -n 20 log "$root/debootstrap/debootstrap.log" 2>/dev/null)"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# In a mount and pid namespace of its own, its root for a root (user namespaces are not made from a
# chroot).
inside() {
	unshare --mount --pid --fork --kill-child --propagation private sh -euc '
		mount --bind "$1" "$1"
		mount --rbind /dev "$1/dev"
		mount --rbind /sys "$1/sys"
		mount -t proc proc "$1/proc"
		mount -t tmpfs -o mode=755 tmpfs "$1/run"
		mknod -m 666 "$1/run/fuse" c 10 229 # as on most machines
		mount --bind "$1/run/fuse" "$1/dev/fuse"
		for one in /etc/apt/apt.conf.d /etc/ssl/certs; do
			[ ! -d "$one" ] || [ ! -d "$1$one" ] || mount --bind "$one" "$1$one"
		done
		mkdir -p "$1/.old"
		cd "$1"
		pivot_root . .old
		exec env -i "PATH=$PATH" chroot . sh -euc "umount -l /.old; exec sh -e /steps.sh $2" </dev/null' sh "$root" "$1" >log 2>&1 ||
		fail "$1: $(tail -n 40 log)"
}
