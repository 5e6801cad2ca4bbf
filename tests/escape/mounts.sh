#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The view consists of mounts. Nothing inside may add, remove or change one.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

check() {
	blocked "$1" EPERM mount /tmp
	blocked "$1" EPERM umount /proc/sys
	blocked "$1" EPERM remount /usr
	blocked "$1" EPERM setattr /usr
	blocked "$1" EPERM open-tree /usr
	blocked "$1" EPERM chroot /tmp
	blocked "$1" EPERM pivot-root /tmp
	blocked "$1" EPERM move-mount /usr /tmp
	blocked "$1" EPERM fsopen tmpfs
	blocked "$1" EPERM setns /proc/self/ns/mnt
	blocked "$1" EOPNOTSUPP handle /usr
	blocked "$1" EPERM fanotify
	# Nothing lies under the new root any more, and pid 1's root is nobody's.
	out=$(inside "$1" -- sh -c 'ls -d /proc/1/root/etc/shadow /../../etc/shadow 2>/dev/null' || :)
	[ -z "$out" ] || fail "$1: seen: $out"
}

ls -d /proc/self/root/etc/shadow /../../etc/shadow >/dev/null || fail "control: not to be seen outside"
works unshare -m "$ATTACK" mount /mnt
works unshare -m sh -c "mount -t tmpfs none /mnt && exec '$ATTACK' umount /mnt"
works unshare -m sh -c "mount -t tmpfs none /mnt && exec '$ATTACK' remount /mnt"
works unshare -m sh -c "mount -t tmpfs -o ro none /mnt && mount -o bind,remount,ro /mnt && exec '$ATTACK' setattr /mnt"
works unshare -m "$ATTACK" open-tree /usr
works "$ATTACK" chroot /tmp
works unshare -m sh -c "mount -t tmpfs none /mnt && mkdir /mnt/a && cd /mnt && exec '$ATTACK' pivot-root ."
works unshare -m --propagation private sh -c "mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b && mount -t tmpfs none /mnt/a && exec '$ATTACK' move-mount /mnt/a /mnt/b"
works "$ATTACK" fsopen tmpfs
works unshare -m "$ATTACK" setns /proc/self/ns/mnt
works "$ATTACK" handle /usr
works "$ATTACK" fanotify
each_mode check
