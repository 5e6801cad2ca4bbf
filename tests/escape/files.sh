#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host files: the command sees only what the view shows, read-only.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

mkdir -p "$WARD_TMP/show/sub" "$WARD_TMP/closed"
echo shown >"$WARD_TMP/show/file"
echo secret >"$WARD_TMP/closed/file"
chmod 711 "$WARD_TMP"
chmod 777 "$WARD_TMP/show"
chmod 666 "$WARD_TMP/show/file"
chmod 700 "$WARD_TMP/closed"
cp /usr/bin/id "$WARD_TMP/show/suid"
chmod 4755 "$WARD_TMP/show/suid"

check() {
	for file in /etc/shadow /etc/gshadow /etc/ssh /root/.ssh /home /var/log /boot /mnt /srv; do
		inside "$1" -- ls "$file" >/dev/null 2>&1 && fail "$1: $file is there"
	done
	blocked "$1" EROFS open /new w
	blocked "$1" EROFS open /usr/new w
	blocked "$1" EROFS open /etc/new w
	works inside "$1" -- /attack open /tmp/new w
	works inside "$1" -- /attack open /dev/shm/new w
	works inside "$1" -- /attack open /etc/passwd r
	# The host's devices are written to, and stay as they are; the file that covers others is
	# one of them.
	for file in /dev/null /dev/zero /dev/tty /proc/kmsg; do
		[ ! -e $file ] || blocked "$1" EROFS touch $file
	done
	for file in /dev/null /dev/zero /dev/full; do
		works inside "$1" -- /attack open $file w
	done
	inside "$1" -- sh -c 'echo text >/dev/null && : >>/dev/null && [ -w /dev/null ]' || fail "$1: /dev/null"
	# The command's own files cannot be mistaken for the host's.
	out=$(inside "$1" -- cut -d: -f1 /etc/passwd | tr '\n' ' ')
	[ "$out" = "root agent nobody " ] || fail "$1: passwd names $out"
	inside "$1" -- cat /etc/machine-id >"$WARD_TMP/id"
	[ -s "$WARD_TMP/id" ] || fail "$1: no machine-id"
	! cmp -s "$WARD_TMP/id" /etc/machine-id || fail "$1: the host's machine-id"
}

# Bound files are visible, read-only, and without effect of set-user-id bits.
check_bind() {
	out=$(inside "$1" --bind "$2=/show" -- cat /show/file)
	[ "$out" = shown ] || fail "$1: bound file: $out"
	out=$(inside "$1" --bind "$2=/show" -- /attack open /show/file w) && fail "$1: written"
	# Where mounts can be shut, the file's owner has no id in this one.
	[ "$out" = EROFS ] || [ "$1:$out" = root:EACCES ] || fail "$1: $out"
	out=$(inside "$1" --bind "$2=/show" -- /show/suid -u)
	[ "$out" != 0 ] || fail "$1: a set-user-id program has effect"
}

works "$ATTACK" open "$WARD_TMP/show/file" w
cp "$ATTACK" "$WARD_TMP/show/attack"
for file in /dev/null /dev/zero /dev/tty; do
	works as_other "$WARD_TMP/show/attack" touch $file
done
# The caller has what is not there inside, and may write what cannot be written there.
for file in /etc/shadow /home /var/log /mnt /srv; do
	ls "$file" >/dev/null || fail "control: the host has no $file"
done
works "$ATTACK" open "$WARD_TMP/new" w
for dir in /etc /usr/local; do
	works apart sh -c "mount -t tmpfs none $dir && exec '$ATTACK' open $dir/new w"
done
out=$(as_other "$WARD_TMP/show/suid" -u)
[ "$out" = 0 ] || ! by_root || fail "control: set-user-id has no effect outside: $out"
each_mode check
! by_root || check_bind root "$WARD_TMP/show"
check_bind user "$WARD_TMP/show"

by_root || exit 0
# Started by root, what the owner may not look up is not shown.
inside root --bind "$WARD_TMP/closed/file=/file" -- cat /file >"$WARD_TMP/out" 2>&1 &&
	fail "root: a file that the owner cannot reach was shown"
grep -q "Permission denied" "$WARD_TMP/out" || fail "root: $(cat "$WARD_TMP/out")"
chmod 711 "$WARD_TMP/closed"
out=$(inside root --bind "$WARD_TMP/closed/file=/file" -- cat /file)
[ "$out" = secret ] || fail "control: $out"
