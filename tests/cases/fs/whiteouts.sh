#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Overlay file systems of containers inside mark a removed name with the character device 0:0,
# which has no driver. mknod(2) and RENAME_WHITEOUT make it under the rules for files, counted by
# quotas and recorded. wardfs refuses every other device.
# plain
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/whiteouts.py" "$WARD_TMP/whiteouts.py"
for mode in $MODES; do
	policy 'read = /workspace/ro'
	printf 'hardlinks = allow\n' | sed -i '/^source/r /dev/stdin' "$POLICY"
	fresh
	as_owner sh -c "mkdir '$BACK/ro' && echo f >'$BACK/ro/f'"
	in_mode "$mode" -c "exec python3 '$WARD_TMP/whiteouts.py' '$BACK'" || fail "$mode: whiteouts"
	recorded '^create .*path=\[/workspace/white\]'
	recorded '^create .*path=\[/workspace/one\]'
	recorded '^rename .*path=\[/workspace/one\]'
	recorded '^deny .*path=\[/workspace/ro/white\]'
done

# A whiteout is a file: where a quota has no room for it, the rename does not happen.
cp "$WARD_SRC/tests/cases/fs/lib/whiteouts-full.py" "$WARD_TMP/full.py"
policy
printf '[quota /workspace]\nfiles = 2\n' >>"$POLICY"
fresh
in_mode root -c "exec python3 '$WARD_TMP/full.py'" || fail "quota"
