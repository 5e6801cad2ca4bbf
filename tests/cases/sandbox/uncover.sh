#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# A tree beneath another one covers what the one above has in its place. The kernel detaches a mount
# whose name cannot be looked up any more: the session ends then, it does not go on in another place.
. "$WARD_SRC/tests/cases/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "needs root to become an ordinary user"; exit 77; }
cat >uncover.body <<'S'
. "$WARD_SRC/tests/cases/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
mkdir -p p/a/inner p/b
[ "$(id -u)" != 0 ] || chown -R 4711:4711 p
echo covered >p/a/inner/covered
cd p || exit 1
cat >u.policy <<'P'
[policy]
version = 1
[tree /workspace]
source = .
[tree /workspace/a/inner]
source = tmpfs:4M
[files]
write = /workspace
P
run() {
	"$WARDFS" run --policy u.policy "$@"
}
# The control: it covers, and a directory above may change as long as it can be searched. Moved, the
# directory takes the tree along.
expect 0 run -- sh -ec 'cd /workspace; chmod 700 a; test ! -e a/inner/covered; echo x >a/inner/new; chmod 755 a
mv a c; cat c/inner/new; mv c a; test ! -e a/inner/covered'
[ "$OUT" = x ] || fail "moved: $OUT"
[ ! -e a/inner/new ] || fail "control: not covered"
# And what is closed like that is not the session's end where nothing is mounted.
expect 0 run -- sh -c 'cd /workspace; chmod 0 b; stat b/x; chmod 755 b; sleep 1; stat b'
# From inside.
expect 125 run --session inside -- sh -c 'cd /workspace; chmod 0 a; stat a/inner; chmod 755 a; sleep 30
echo x >a/inner/mine'
has "$ERR" "taken away"
[ ! -e a/inner/mine ] || fail "written where it was not meant to be"
has "$("$WARDFS" audit show --json --kind session.end inside)" "taken away"
expect 0 "$WARDFS" audit verify inside
chmod 755 a
# The host's own mounts of the same kind may come and go: mode process shows them.
if [ "$(id -u)" = 0 ]; then
	mkdir ../src ../mnt
	expect 0 "$WARDFS" mount --session beside ../src ../mnt
	rm -f up
	"$WARDFS" run --mode process --policy u.policy -- sh -c ': >up; while test -e up; do sleep 0.1; done' 2>err &
	pid=$!
	wait_until 60 test -e up || fail "not started: $(cat err)"
	expect 0 "$WARDFS" umount ../mnt
	rmdir ../mnt
	sleep 1
	rm up
	wait $pid || fail "exit $?: $(cat err)"
fi
# From outside. (Moved there, it takes the tree along as well.)
rm -f up
run --session outside -- sh -c 'cd /workspace; : >up; until test -e a/inner/covered; do sleep 0.1; ls a/inner; done; sleep 600' \
	>out 2>err &
pid=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
rm -r a/inner
mkdir a/inner
echo covered >a/inner/covered
wait $pid
got=$?
[ $got = 125 ] || fail "exit $got: $(cat err)"
has "$(cat err)" "taken away"

# A tree in a directory of the host that the view shows: without it the host's own would show.
mkdir -p ../shown/tree
echo key >../shown/tree/key.pem
cat >shown.policy <<P
[policy]
version = 1
[tree /workspace]
source = .
[tree $WARD_TMP/shown/tree]
source = $WARD_TMP/shown/tree
[system]
read = $WARD_TMP/shown
[files]
write = /workspace
read = $WARD_TMP/shown
hide = *.pem
P
rm -f up
"$WARDFS" run --policy shown.policy -- sh -c 'ls "$0"; : >up; until test -e "$0/key.pem"; do sleep 0.1; done; sleep 600' \
	"$WARD_TMP/shown/tree" >out 2>err &
pid=$!
wait_until 60 test -e up || fail "not started: $(cat err)"
[ ! -s out ] || fail "control: not hidden: $(cat out)"
rm -r ../shown/tree
mkdir ../shown/tree
echo key >../shown/tree/key.pem
wait $pid
got=$?
[ $got = 125 ] || fail "exit $got: $(cat err)"
has "$(cat err)" "taken away"

# Nor does a link choose another place, which the tree would cover then: the last name, or one before.
rm -r a
mkdir -p a/share
"$WARDFS" run --policy u.policy -- true 2>/dev/null && fail "control: no directory is there"
ln -s /usr/share a/inner
expect 125 run -- ls /usr/share
has "$ERR" "a symbolic link is in its place"
rm -r a
ln -s /usr a
sed -i 's|a/inner|a/share|' u.policy
expect 125 run -- ls /usr/share
has "$ERR" "a symbolic link is in its place"
rm a
mkdir -p a/share
[ "$(id -u)" != 0 ] || chown -R 4711:4711 a
expect 0 run -- grep -c '^wardfs /workspace/a/share ' /proc/self/mounts
S
cp uncover.body uncover.sh
chmod 755 "$WARD_TMP"
sh ./uncover.sh || fail "as root"
as_user "$WARD_TMP/uncover.sh" || fail "as an ordinary user"
