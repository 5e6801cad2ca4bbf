#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# A file with many names. To open it for writing costs no look at each of them, also where the
# session goes on making names: counted are the system calls of the daemon. And what others do to
# one of the names is heeded at once: a name moved out of the tree, by itself or with its directory,
# leaves a link that no rule knows. The control is the same within the tree.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/links-many-work.py" "$WARD_TMP/work.py"
if command -v strace >/dev/null; then
	policy
	fresh
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/work.py" "$WARD_TMP/pid" "$WARD_TMP/calls" || fail "work"
fi

cp "$WARD_SRC/tests/cases/fs/lib/links-many-moved.py" "$WARD_TMP/moved.py"
for mode in $MODES; do
	policy
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away" && chown $OWNER "$WARD_TMP/away"
	in_mode "$mode" -c "exec python3 '$WARD_TMP/moved.py' '$BACK' '$WARD_TMP/away'" || fail "$mode: moved"
done
