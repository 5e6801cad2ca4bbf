#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random system calls in a session whose changes are staged, and in its own /tmp: each result,
# errno, attribute and content must be the same (cases/fs/probe). Nothing of it gets into the
# project. With --long, ten minutes of further seeds as root and ten as an ordinary user.
# timeout: 3600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "${1-}" = user ] || [ "$(id -u)" = 0 ] || skip "mounting a file system needs root"
export SECONDS_MORE="${WARD_LONG:+600}"

# What is compared is on a tmpfs, as /tmp is inside: the project, and what is staged.
probe() {
	XDG_STATE_HOME=$PROJECT-state
	export XDG_STATE_HOME
	project "$PROJECT"
	cd "$PROJECT"
	cp "$WARD_SRC/tests/cases/fs/lib/probe.py" probe.py
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\nhardlinks = allow\nchanges = review\n[files]\nwrite = /workspace\n' >../policy
	before=$(find . -path ./.git -prune -o -printf '%p %y %m %i %T@\n')
	expect 0 "$WARDFS" run -p ../policy -s probe -- sh -c 'mkdir /tmp/native inside
		exec python3 probe.py /tmp/native inside "$@"' sh "${SECONDS_MORE:-0}" \
		1 3 11 19 103 240 509 515 2945560059 w1 w2 w2882827869
	printf '%s\n' "$OUT"
	[ "$(find . -path ./.git -prune -o -printf '%p %y %m %i %T@\n')" = "$before" ] || fail "the project changed"
	cd ..
}
case ${1-} in
inside)
	mkdir -p "$WARD_TMP/tmpfs"
	mount -t tmpfs -o mode=755 tmpfs "$WARD_TMP/tmpfs"
	PROJECT=$WARD_TMP/tmpfs/project
	probe
	;;
user)
	probe
	;;
*)
	echo "--- as root"
	unshare --mount --propagation private sh "$0" inside
	echo "--- as an ordinary user"
	home=$WARD_TMP/home
	mkdir -p "$home/tmpfs"
	export PROJECT="$home/tmpfs/project"
	mount -t tmpfs -o mode=777 tmpfs "$home/tmpfs"
	trap 'umount -l "$home/tmpfs"' EXIT
	as_user -euc 'export WARD_TMP=$HOME
		exec sh "$1" user' sh "$0"
	;;
esac
