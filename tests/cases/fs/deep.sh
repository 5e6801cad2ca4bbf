#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The bound of depth also holds for what is beneath a directory that is renamed: no rename makes a
# tree in which each request costs the guard more than in the deepest one that mkdir(2) makes.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# What the runner could not remove.
trap 'rm -rf "$BACK"' EXIT
cp "$WARD_SRC/tests/cases/fs/lib/deep.py" "$WARD_TMP/deep.py"
chmod 755 "$WARD_TMP"
script deep <<END
python3 "$WARD_TMP/deep.py"
END
for mode in $MODES; do
	policy 'write = /workspace/x' 'write = /workspace/y'
	fresh
	in_mode "$mode" "$WARD_TMP/deep" || fail "$mode: deep"
done
