#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every cell of the table of operations and verbs in docs/wardfs-policy.5.md, on a mount.
set -eu
# An ordinary user mounts in a user namespace of their own: fusermount3 may not be there.
if [ "$(id -u)" -ne 0 ] && [ "${1-}" != inside ]; then
	exec unshare --user --map-current-user --keep-caps --mount sh "$0" inside
fi
mkdir source mount
cleanup() {
	"$WARD_BUILD/wardfs" umount "$PWD/mount" 2>/dev/null || :
}
trap cleanup EXIT
verbs=$WARD_SRC/tests/support/file-verbs.py
python3 "$verbs" make source policy
python3 "$verbs" state source >before
"$WARD_BUILD/wardfs" mount --policy policy "$PWD/source" "$PWD/mount"
python3 "$verbs" attempt "$PWD/mount" >answers
python3 "$verbs" state source >after
python3 "$verbs" judge answers before after
