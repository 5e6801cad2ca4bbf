#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The node numbers that the kernel shows in file handles are not addresses of the daemon's memory.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/node-ids.py" "$WARD_TMP/ids.py"
policy
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && : >a && : >b && mkdir d"
	in_mode $mode -c "exec python3 '$WARD_TMP/ids.py'" || fail "$mode"
done
