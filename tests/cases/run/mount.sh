#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs mount and umount: the guard alone, for the caller, for many users, for an ordinary user
# in a user namespace; killed daemons; each refusal with its control.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir src mnt mnt2
echo text >src/file
echo token >src/.env
chmod 755 "$WARD_TMP" src mnt
mounted() { grep -q " $1 .* fuse.wardfs " /proc/self/mountinfo; }

# For the caller.
expect 0 "$WARDFS" mount --session m1 src mnt
mounted "$WARD_TMP/mnt" || fail "not mounted"
expect 0 cat mnt/file
expect 1 cat mnt/.env
expect 0 cat src/.env
expect 0 sh -c 'echo new >mnt/new'
[ "$(cat src/new)" = new ] || fail "not written through"
expect 0 "$WARDFS" ps
has "$OUT" m1
expect 2 "$WARDFS" mount src
expect 2 "$WARDFS" mount nowhere mnt
expect 2 "$WARDFS" mount src nowhere
expect 2 "$WARDFS" mount src/file mnt2
has "$ERR" "Not a directory"
expect 2 "$WARDFS" mount src /proc/self/fdinfo
has "$ERR" "choose a path outside /proc"
expect 2 "$WARDFS" mount --session a/b src mnt2
has "$ERR" "a name has"
# Nothing of the tree would be seen; one mount of ours is enough in one place.
expect 2 "$WARDFS" mount --tree /elsewhere src mnt2
has "$ERR" "--tree /elsewhere"
mounted "$WARD_TMP/mnt" || fail "control: the first one is there still"
expect 2 "$WARDFS" mount src mnt
has "$ERR" "wardfs is already mounted there"
# In use: refused, unless lazily.
sh -c 'cd mnt && exec sleep 600' &
holder=$!
holds() { [ "$(readlink "/proc/$holder/cwd")" = "$WARD_TMP/mnt" ]; }
wait_until 60 holds || fail "control: nobody is in the mount"
expect 1 "$WARDFS" umount mnt
has "$ERR" lazy
mounted "$WARD_TMP/mnt" || fail "gone although in use"
expect 0 "$WARDFS" umount --lazy mnt
kill "$holder"
expect 143 wait "$holder"
mounted "$WARD_TMP/mnt" && fail "still mounted"
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on: $("$WARDFS" ps)"
expect 0 "$WARDFS" audit verify m1

# umount returns when the session has ended: its trail can be verified at once.
for i in 1 2 3 4 5 6 7 8; do
	expect 0 "$WARDFS" mount --session "at-once-$i" src mnt
	cat mnt/file >/dev/null
	expect 0 "$WARDFS" umount mnt
	hasnt "$ERR" "not ended"
	expect 0 "$WARDFS" audit verify "at-once-$i"
	[ "$("$WARDFS" ps --json 2>&1)" = '[]' ] || fail "the session goes on: $("$WARDFS" ps)"
done
# A writer that stands still is continued.
number() { # number WORD: of the only session
	"$WARDFS" ps --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"
}
expect 0 "$WARDFS" mount --session continued src mnt
kill -STOP "$(number audit_pid)"
expect 0 "$WARDFS" umount mnt
expect 0 "$WARDFS" audit verify continued
# The wait has an end: a supervisor that stands still does not hold the caller for ever.
expect 0 "$WARDFS" mount --session stands src mnt
supervisor=$(number pid)
# It looks at the writer once a second, and so is not done when it is stopped.
kill -STOP "$(number audit_pid)"
"$WARDFS" umount mnt 2>said &
waits=$!
wait_until 60 sh -c '! grep -q " $WARD_TMP/mnt " /proc/mounts' || fail "still mounted"
kill -STOP "$supervisor"
expect 1 wait "$waits"
has "$(cat said)" "session stands has not ended yet"
kill -CONT "$supervisor"
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"
expect 0 "$WARDFS" audit verify stands

# Something else on top: nothing is taken away, and that is said.
expect 0 "$WARDFS" mount --session beneath src mnt
mount -t tmpfs top mnt
expect 1 "$WARDFS" umount mnt
has "$ERR" "something else is mounted on top of $WARD_TMP/mnt"
expect 1 "$WARDFS" umount --lazy mnt
has "$ERR" "something else is mounted on top of"
grep -q "^top $WARD_TMP/mnt " /proc/mounts || fail "the other mount is gone"
mounted "$WARD_TMP/mnt" || fail "the mount beneath is gone"
umount mnt
expect 0 cat mnt/file
expect 0 "$WARDFS" umount mnt
! mounted "$WARD_TMP/mnt" || fail "still mounted"
expect 0 "$WARDFS" audit verify beneath
# A kill ends the session even so.
expect 0 "$WARDFS" mount --session killed src mnt
mount -t tmpfs top mnt
expect 0 "$WARDFS" kill killed
[ "$("$WARDFS" ps --json 2>&1)" = '[]' ] || fail "the session goes on: $("$WARDFS" ps)"
expect 0 "$WARDFS" audit show killed --kind session.end
has "$OUT" "something else is mounted on top of"
umount mnt
umount mnt
expect 0 "$WARDFS" audit show m1
has "$OUT" "/workspace/.env"
expect 1 "$WARDFS" umount mnt
has "$ERR" "not a mount of wardfs"

# Another sandbox path has the guards of a project: its repositories, what the host executes, its
# project file.
printf '[policy]\nversion = 1\nextends = medium\n[tree /data]\nsource = %s/mnt2\n[files]\nwrite = /data\n' "$WARD_TMP" >guarded.policy
git init -q src/repo
git init -q --bare src/lib.git
expect 0 "$WARDFS" mount --policy guarded.policy --tree /data src mnt
for f in repo/.git/hooks/pre-commit repo/.git/config lib.git/config .envrc .vscode .wardfs.policy; do
	expect 2 sh -c "echo evil >>mnt/$f"
	! grep -qs evil "src/$f" || fail "$f was written"
done
expect 0 sh -c 'echo fine >mnt/repo/plain'
expect 0 "$WARDFS" umount mnt
# The control: without guards in the policy.
printf '[policy]\nversion = 1\n[files]\nwrite = /data\n' >unguarded.policy
expect 0 "$WARDFS" mount --policy unguarded.policy --tree /data src mnt
expect 0 sh -c 'echo evil >>mnt/repo/.git/hooks/pre-commit'
expect 2 sh -c 'echo evil >>mnt/.wardfs.policy'
expect 0 "$WARDFS" umount mnt
rm -r src/repo src/lib.git

# Another sandbox path: rules speak of that.
printf '[policy]\nversion = 1\n[files]\nread = /data\nwrite = /data/out\n' >data.policy
mkdir src/out
expect 0 "$WARDFS" mount --policy ./data.policy --tree /data src mnt
expect 0 sh -c 'echo x >mnt/out/x'
expect 1 touch mnt/no
expect 0 "$WARDFS" umount mnt
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"

# Many users, each with its own ids; without --allow-other nobody but the caller.
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >all.policy
chmod 777 src
echo private >src/private
chmod 600 src/private
as() { setpriv --reuid="$1" --regid="$1" --clear-groups "$2" "$3"; }
expect 0 "$WARDFS" mount --policy ./all.policy src mnt
expect 1 as 4711 cat mnt/file
expect 0 "$WARDFS" umount mnt
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"
expect 0 "$WARDFS" mount --policy ./all.policy --allow-other src mnt
expect 0 as 4711 cat mnt/file
expect 1 as 4711 cat mnt/private
expect 0 cat mnt/private
expect 0 as 4711 touch mnt/by4711
expect 0 as 4712 touch mnt/by4712
[ "$(stat -c %u src/by4711)$(stat -c %u src/by4712)" = 47114712 ] || fail "owners: $(ls -ln src)"
chmod 600 src/by4711
expect 1 as 4712 cat mnt/by4711
expect 0 as 4711 cat mnt/by4711
expect 0 "$WARDFS" umount mnt
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"

# Daemons killed: the mount goes, and the trail says why.
for victim in fs_pid audit_pid; do
	expect 0 "$WARDFS" mount --session "die-$victim" src mnt
	pid=$("$WARDFS" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$victim")
	kill -9 "$pid"
	wait_until 60 sh -c '! grep -q "fuse.wardfs" /proc/self/mountinfo' || fail "$victim: a stale mount"
	wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "$victim: the session goes on"
	"$WARDFS" audit verify "die-$victim" >verdict || [ $? -eq 1 ]
	grep -q died verdict || fail "$victim: $(cat verdict)"
done
# The kernel's list of mounts writes such a name in another way.
odd=$(printf 'a b\tc\\d\ne')
mkdir "$odd"
expect 0 "$WARDFS" mount src "$odd"
expect 2 "$WARDFS" mount src "$odd"
has "$ERR" 'wardfs is already mounted there'
expect 0 "$WARDFS" umount "$odd"

# Its supervisor killed: nothing is served any more, and umount still takes the mount away.
expect 0 "$WARDFS" mount --session die-super src mnt
pid=$("$WARDFS" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["pid"])')
kill -9 "$pid"
wait_until 60 sh -c '! cat mnt/file' || fail "served without a supervisor"
expect 0 "$WARDFS" umount mnt
mounted "$WARD_TMP/mnt" && fail "still mounted"

# An ordinary user: refused with the way out in the host's namespace, served in one of its own.
cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
cd "$HOME" || exit 1
mkdir src mnt
echo mine >src/file
echo token >src/.env
PATH=/usr/bin:/bin expect 125 env PATH=/nonexistent "$WARDFS" mount src mnt
has "$ERR" "user namespace"
expect 0 unshare --user --map-current-user --keep-caps --mount sh -c '
	"$WARDFS" mount src mnt || exit 3
	cat mnt/file || exit 4
	cat mnt/.env 2>/dev/null && exit 5
	echo x >mnt/new || exit 6
	"$WARDFS" umount mnt || exit 7'
has "$OUT" mine
[ -e src/new ] || fail "not written"
wait_until 60 sh -c '[ "$("$WARDFS" ps --json 2>&1)" = "[]" ]' || fail "the session goes on"
exit 0
S
as_user "$WARD_TMP/inner.sh"
