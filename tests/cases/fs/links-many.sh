#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file with many names. Opening it for writing does not look at each name, even while the
# session adds names: the test counts the daemon's system calls. Changes by others to one name
# count at once: a name that moves out of the tree leaves a link without a rule. The control is a
# move within the tree.
# timeout: 900
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
