#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run takes a prepared session only if everything is as it was: policy, floor, project, options,
# owner, mounts, limits, control group. Each change alone starts another session, and that is no
# error. The control each time: without the change it is taken.
# serial
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/prepared.sh"
[ "$(id -u)" = 0 ] || skip "needs root: mounts, groups, the floor"
mkdir -p outer/p other
project outer/p
cd outer/p || exit 1
trap drain EXIT
warm_policy 1
cp "$FILE" "$WARD_TMP/policy"

# not_taken WHAT CMD...: what it runs is a run that takes nothing, and succeeds.
not_taken() {
	what=$1
	shift
	"$@" </dev/null >"$WARD_TMP/out" 2>"$WARD_TMP/err" || fail "$what: $(cat "$WARD_TMP/err")"
	! taken "$MEMBER" || fail "$what: taken"
}

# The control: a run like that which had it prepared.
control() {
	fill
	"$WARDFS" run -- true </dev/null || fail "control: $1"
	taken "$MEMBER" || fail "control: not taken: $1"
	fill
}

control "at first"
echo "--- the policy"
printf '[guard]\ndeny = secret.txt\n' >>"$FILE"
echo s >secret.txt
not_taken "an edited policy" "$WARDFS" run -- sh -c '! cat secret.txt 2>/dev/null'
wait_until 60 sh -c '! "$WARDFS" ps | grep -q "$1"' - "$MEMBER" || fail "what does not fit goes on"
cp "$WARD_TMP/policy" "$FILE"
control policy
echo "--- the same size, the same time"
sed 's/^warm = 1/warm = 2/' "$WARD_TMP/policy" >"$FILE"
touch -r "$WARD_TMP/policy" "$FILE"
not_taken "an edited policy of the same size and time" "$WARDFS" run -- true
cp "$WARD_TMP/policy" "$FILE"
control "size"
echo "--- a link in its place"
cp "$FILE" "$WARD_TMP/elsewhere.policy"
printf '[guard]\ndeny = secret.txt\n' >>"$WARD_TMP/elsewhere.policy"
rm "$FILE"
ln -s "$WARD_TMP/elsewhere.policy" "$FILE"
not_taken "a link to another policy" "$WARDFS" run -- sh -c '! cat secret.txt 2>/dev/null'
rm "$FILE"
cp "$WARD_TMP/policy" "$FILE"
control link
echo "--- the project's file, and one that was planted in a directory above"
printf '[policy]\nversion = 1\n[guard]\ndeny = secret.txt\n' >.wardfs.policy
not_taken "a project file" "$WARDFS" run -- sh -c '! cat secret.txt 2>/dev/null'
rm .wardfs.policy
control "project file"
echo "--- options"
not_taken --hide "$WARDFS" run --hide 'x*' -- true
control option
not_taken --read "$WARDFS" run --read "$WARD_TMP/other" -- true
control read
not_taken --net "$WARDFS" run --net host.example -- true
control net
echo "--- the directory of the project: another one at its path"
mv "$PWD" "$PWD.old"
mkdir "$WARD_TMP/outer/p"
cd "$WARD_TMP/outer/p" || exit 1
git init -q .
not_taken "another directory" "$WARDFS" run -- sh -c '! cat secret.txt 2>/dev/null'
cd / || exit 1
rm -rf "$WARD_TMP/outer/p"
mv "$WARD_TMP/outer/p.old" "$WARD_TMP/outer/p"
cd "$WARD_TMP/outer/p" || exit 1
control directory
echo "--- a mount"
mkdir -p "$WARD_TMP/mnt"
mount -t tmpfs -o size=1m ward-warm "$WARD_TMP/mnt"
not_taken "a mount" "$WARDFS" run -- true
umount "$WARD_TMP/mnt"
control mount
echo "--- the caller's process: umask, limits, priority, groups, login"
not_taken umask sh -c 'umask 077; exec "$WARDFS" run -- true'
not_taken limits sh -c 'ulimit -n 500; exec "$WARDFS" run -- true'
not_taken priority nice -n 3 "$WARDFS" run -- true
not_taken "network namespace" unshare --net "$WARDFS" run -- true
not_taken "capabilities" setpriv --bounding-set=-sys_boot "$WARDFS" run -- true
not_taken "no new privileges" setpriv --no-new-privs "$WARDFS" run -- true
not_taken sudo env SUDO_USER=nobody SUDO_UID=65534 "$WARDFS" run --user root -- true
wait_until 120 no_preparer
drain
control process
not_taken groups setpriv --groups=4711 "$WARDFS" run -- true
drain
echo "--- what a take carries is no part of the key"
control "a control for the rest"
"$WARDFS" run --label a=b -e A=b -- echo other words </dev/null >/dev/null
taken "$MEMBER" || fail "words, labels and variables are the take's"
echo "--- the floor"
floor=/etc/wardfs/floor.policy
if [ ! -e $floor ] && unshare --mount true 2>/dev/null; then
	mkdir -p "$WARD_TMP/etc"
	cp -a /etc/. "$WARD_TMP/etc/"
	mkdir -p "$WARD_TMP/etc/wardfs"
	unshare --mount --propagation private sh -eu -c '
		. "$WARD_SRC/tests/cases/run/lib/prepared.sh"
		mount --bind "$WARD_TMP/etc" /etc
		fill
		"$WARDFS" run -- true </dev/null
		taken "$MEMBER" || fail "control: not taken beneath a floor"
		fill
		printf "[policy]\nversion = 1\n[guard]\ndeny = secret.txt\n" >/etc/wardfs/floor.policy
		"$WARDFS" run -- sh -c "! cat secret.txt 2>/dev/null" </dev/null || fail "the floor does not hold"
		! taken "$MEMBER" || fail "taken under another floor"
		wait_until 120 no_preparer
		drain'
fi
