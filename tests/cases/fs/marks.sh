#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Attack: a session of an ordinary user looks at more directories than that user may watch with
# fanotify. wardfs-fs watches them, and leaves a quarter of the marks to the user's other programs.
# The control: a program that takes all marks leaves none.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ -e /proc/sys/user/max_fanotify_marks ] || skip "the kernel does not count marks"
if [ "${1-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root: another user"
	chmod 755 "$WARD_TMP"
	mkdir "$WARD_TMP/home"
	chown 4711:4711 "$WARD_TMP/home"
	exec unshare --mount --propagation private sh -c '
		mount -t tmpfs tmpfs "$WARD_TMP/home"
		chown 4711:4711 "$WARD_TMP/home"
		mknod "$WARD_TMP/fuse" c 10 229 && chmod 666 "$WARD_TMP/fuse" && mount --bind "$WARD_TMP/fuse" /dev/fuse
		exec setpriv --reuid 4711 --regid 4711 --clear-groups --inh-caps=-all env HOME="$WARD_TMP/home" \
			unshare --user --map-current-user --keep-caps --mount sh "$0" inside' "$0"
fi
WARD_TMP=$HOME
unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
echo 40 >/proc/sys/user/max_fanotify_marks
cd "$HOME" || exit 1
cp "$WARD_SRC/tests/cases/fs/lib/marks-take.py" take.py
mkdir src mnt more
for i in $(seq 100); do mkdir "src/$i" "more/$i"; done

[ "$(python3 take.py more -- python3 take.py more --)" = '40 0' ] || fail "control: $(python3 take.py more -- python3 take.py more --)"
expect 0 "$WARDFS" mount --policy high src mnt
trap '"$WARDFS" umount mnt' EXIT
for i in $(seq 40); do stat "mnt/$i" >/dev/null; done
for i in $(seq 100); do ls "mnt/$i"; done
left=$(python3 take.py more --)
[ "$left" -ge 10 ] || fail "only $left marks are left"
# It does watch.
[ "$left" -lt 40 ] || fail "control: the guard watches nothing"
