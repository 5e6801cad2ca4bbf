#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs does not serve what lies beneath another mount or in a casefolded directory, and says
# why: another file system, a bind mount of the same one, a mount that appears while the tree is
# in use. The control is the same name without the mount. A rule that hides the name also hides
# the mount.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script below <<'END'
for m in tmp bind; do
	refused "Permission denied" ls $m
	refused "Permission denied" stat $m
	refused "Permission denied" cat $m/f
	refused "Permission denied" sh -c "echo x >$m/g"
	refused "" mv $m elsewhere
	refused "" rmdir $m
done
refused "Permission denied" stat file
refused "No such file" stat hidden
refused "No such file" ls hidden
same "$(ls plain)" f
same "$(cat plain/f)" own
# by a directory that was open before it came
exec 3<late
same "$(cat late/f)" own
echo ready >ready
i=0
while [ ! -e done ]; do
	i=$((i + 1))
	[ $i -lt 6000 ] || { echo "FAIL: nothing was mounted"; exit 1; }
	sleep 0.01
done
# within the second that the names are kept
i=0
while cat late/f >/dev/null 2>&1; do
	i=$((i + 1))
	[ $i -lt 6000 ] || { echo "FAIL: what was mounted later is served"; exit 1; }
	sleep 0.01
done
refused "Permission denied" cat late/f
END
# mounted DIR: in a mount namespace of its own, so in no one's way
mounted() {
	unshare --mount --propagation private sh -eu -c '
		for d in tmp bind hidden; do mkdir "$1/$d"; done
		mount -t tmpfs tmpfs "$1/tmp"
		echo other >"$1/tmp/f"
		mount --bind "$1/plain" "$1/bind"
		mount -t tmpfs tmpfs "$1/hidden"
		: >"$1/file"
		mount --bind "$1/plain/f" "$1/file"
		. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
		cd "$WARD_TMP"
		{
			i=0
			while [ ! -e "$1/ready" ] && [ $i -lt 6000 ]; do
				i=$((i + 1))
				sleep 0.01
			done
			mount -t tmpfs tmpfs "$1/late"
			echo other >"$1/late/f"
			: >"$1/done"
		} &
		helper=$!
		rc=0
		in_mode "$2" "$WARD_TMP/below" || rc=$?
		wait $helper
		exit $rc' sh "$BACK" "$1"
}
for mode in $MODES; do
	policy 'hide = /workspace/hidden'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir plain late && echo own >plain/f && echo own >late/f"
	mounted $mode || fail "$mode: mounts"
	recorded 'path=\[/workspace/tmp\].*another file system is mounted there'
	recorded 'path=\[/workspace/bind\].*another file system is mounted there'
	if grep -q 'path=./workspace/hidden.*another' "$EVENTS"; then fail "$mode: a hidden mount is told"; fi
done

# Casefolded directories. Few kernels have them: that this one does is pretended, and so is the
# answer to the daemon's question about a directory; below it another one is no such directory.
script fold <<'END'
same "$(cat dir/f)" content
printf 'ioctl casefold\n' >"$1"
refused "not supported" cat sub/f
refused "not supported" ls sub
: >"$1"
same "$(cat sub/f)" content
END
policy
fresh
: >"$WARD_TMP/rules" && chmod 666 "$WARD_TMP/rules"
as_owner sh -c "cd '$BACK' && mkdir dir sub && echo content >dir/f && echo content >sub/f"
unshare --mount --propagation private sh -eu -c '
	mount -t tmpfs tmpfs /sys/fs
	mkdir -p /sys/fs/ext4/features
	: >/sys/fs/ext4/features/casefold
	exec "$@"' sh "$FSMOUNT" -m root -o $OWNER:$OWNER -F "$WARD_TMP/rules" -l "$EVENTS" "$POLICY" \
	"$BACK" "$MNT" sh -eu "$WARD_TMP/fold" "$WARD_TMP/rules" || fail "casefold"
printf 'ioctl casefold\n' >"$WARD_TMP/rules"
unshare --mount --propagation private sh -eu -c '
	mount -t tmpfs tmpfs /sys/fs
	mkdir -p /sys/fs/ext4/features
	: >/sys/fs/ext4/features/casefold
	exec "$@"' sh "$FSMOUNT" -m root -o $OWNER:$OWNER -F "$WARD_TMP/rules" "$POLICY" "$BACK" "$MNT" \
	true 2>"$WARD_TMP/err" && fail "a casefolded tree is served"
grep -q 'cannot guard a casefolded directory' "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"
