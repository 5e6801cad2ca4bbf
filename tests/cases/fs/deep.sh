#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The limit on depth also covers what lies beneath a renamed directory. No rename makes a tree in
# which requests cost the guard more than in the deepest tree that mkdir(2) can make.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# The runner cannot remove such a tree.
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
