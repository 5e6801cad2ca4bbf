#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# This folder's attempts from a container of mode docker: each fails with runc, crun, podman and
# docker for the same reason as without an engine. The control is the same attempt on the host.
# timeout: 400
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"
by_root || skip "the controls need root"
project "$WARD_TMP/project"
chmod 755 "$WARD_TMP"
cp "$ATTACK" "$WARD_TMP/project/attack"
cd "$WARD_TMP/project"
flags=$((0x10000000))

# Of a list: an errno, then the attempt. Each runs as a process of its own, in one session.
cat >attempts <<END
EPERM mount /tmp
EPERM remount /usr
EPERM umount /proc/sys
EPERM open-tree /usr
EPERM move-mount /usr /tmp
EPERM setattr /usr
EPERM fsopen tmpfs
EPERM pivot-root /tmp
EPERM chroot /tmp
EPERM setns /proc/self/ns/mnt
EPERM unshare $flags
EPERM clone $flags
ENOSYS clone3 $flags
EPERM ptrace 1
EPERM read-memory 1
EPERM write-memory 1
EPERM take-fd 1 3
EPERM kill 1 9
EPERM hostname other
EPERM fanotify
EOPNOTSUPP handle /usr
EINVAL setuid 0
EROFS open /usr/new w
EROFS open /etc/new w
EROFS open /new w
EACCES open /wardfs-init w
EPERM socket 2 3 1
EAFNOSUPPORT socket 17 3 0
EAFNOSUPPORT socket 40 1 0
ENETUNREACH connect 192.0.2.1 80
ENOENT open $WARD_TMP/beside r
ENOENT open /bundle/config.json r
ENOENT open /state/runc r
END
echo secret >"$WARD_TMP/beside"
# Controls: on the host, as root, they are possible.
works "$ATTACK" open "$WARD_TMP/beside" r
works unshare -m "$ATTACK" mount /tmp
works "$ATTACK" unshare "$flags"
works "$ATTACK" socket 2 3 1

# shellcheck disable=SC2016 # the shell inside expands it
all='while read -r want attempt; do
	got=$(./attack $attempt) && rc=0 || rc=$?
	if [ "$rc" = 1 ] && { [ "$got" = "$want" ] || [ "$1" = any ]; }; then continue; fi
	echo "$attempt: exit $rc, $got, not $want"
done <attempts'
for engine in runc crun podman docker; do
	command -v "$engine" >/dev/null || skip "no $engine (Debian package $engine)"
	expect 0 "$WARDFS" run --engine "$engine" -- sh -c "$all" sh exact
	[ -z "$OUT" ] || fail "$engine: $OUT"
done
expect 0 "$WARDFS" run -- sh -c "$all" sh exact
has "$OUT" '/wardfs-init w'
[ "$(printf '%s\n' "$OUT" | wc -l)" = 1 ] || fail "restricted: $OUT"
# Another kernel has other reasons. To kill its pid 1 ends the session, which is its own.
command -v runsc >/dev/null || skip 'no runsc (Debian package runsc)'
sed '/ kill 1 9$/d' attempts >fewer && mv fewer attempts
expect 0 "$WARDFS" run --engine runsc -- sh -c "$all" sh any
[ -z "$OUT" ] || fail "runsc: $OUT"
