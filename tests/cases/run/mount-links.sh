#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs mount follows no link that a session can have made, neither in what it serves nor in
# where it mounts. It follows the system's links.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
chmod 755 "$WARD_TMP"
mkdir p p/src p/way elsewhere elsewhere/in
echo agent >p/src/job
echo key >elsewhere/key
# On links that a session made, its user is the owner.
ln -s ../elsewhere p/link
ln -s elsewhere/in p/way/far
ln -s ../elsewhere/in p/point
mounted() { grep -q " $1 .* fuse.wardfs " /proc/self/mountinfo; }
turned_away() { # LINK TARGET ARGUMENT…
	link=$1
	target=$2
	shift 2
	expect 2 "$WARDFS" mount "$@"
	has "$ERR" "a symbolic link is on the way"
	has "$ERR" "$link leads to $target."
	! grep -q " $WARD_TMP/.* fuse.wardfs " /proc/self/mountinfo || fail "mounted: $*"
}
echo "--- the control: a link that the system has"
mkdir mnt
link=/var/.wardfs-test-$$
trap 'rm -f "$link"' EXIT
ln -s "$WARD_TMP/elsewhere" "$link"
expect 0 "$WARDFS" mount "$link" mnt
[ "$(cat mnt/key)" = key ] || fail "control: the link does not lead there"
expect 0 "$WARDFS" umount mnt
expect 0 "$WARDFS" mount p/src "$link/in"
mounted "$WARD_TMP/elsewhere/in" || fail "control: mounted where the link leads"
expect 0 "$WARDFS" umount elsewhere/in
echo "--- root's, which a session of root's can have made"
turned_away p/link ../elsewhere p/link mnt
turned_away p/point ../elsewhere/in p/src p/point
echo "--- of another user's: what is served, and where"
chown -hR 4711:4711 p
turned_away p/link ../elsewhere p/link mnt
turned_away p/link ../elsewhere p/link/in mnt
turned_away "$PWD/p/link" ../elsewhere "$PWD/p/link/" mnt
turned_away p/src/../link ../elsewhere p/src/../link mnt
turned_away p/point ../elsewhere/in p/src p/point
turned_away p/link ../elsewhere p/src p/link/in
echo "--- root's link in the user's directory, which the user can move"
chown -h 0:0 p/link
turned_away p/link ../elsewhere p/link mnt
echo "--- a user's own, which a session of that user can have made"
cp -a p own
chown -hR 4711:4711 own
chmod 777 mnt
expect 2 unshare --mount setpriv --reuid=4711 --regid=4711 --clear-groups \
	env HOME="$WARD_TMP/own" XDG_RUNTIME_DIR= "$WARDFS" mount own/link mnt
has "$ERR" "own/link leads to ../elsewhere."
echo "--- without a link"
expect 0 "$WARDFS" mount p/src mnt
[ "$(cat mnt/job)" = agent ] || fail "not served"
expect 0 "$WARDFS" umount mnt
