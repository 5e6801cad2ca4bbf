#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A new or emptied file that is only written to has no pages in the kernel's cache where the guard
# writes it. The host and everybody inside find each write at once: by handles and mappings that
# were there before, at the end of a growing file too. Other files stay cached.
# plain
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/new-files.py" "$WARD_TMP/new-files.py"
# shellcheck disable=SC2119 # as it is
policy
fresh
(cd "$BACK" && as_owner python3 "$WARD_TMP/new-files.py" 1 "$BACK") || fail "control: natively"
# Since these versions the kernel drops pages that were read during such a write.
old=$(uname -r | awk -F '[.-]' '{ print $1 < 6 || ($1 == 6 && ($2 < 12 || ($2 == 12 && $3 < 64) ||
	($2 > 12 && $2 < 18) || ($2 == 18 && $3 < 3))) }')
for mode in $MODES; do
	fresh
	in_mode "$mode" -c "exec python3 '$WARD_TMP/new-files.py' ${WARD_LONG:+3}3 '$BACK'" || fail "$mode"
	[ "$mode" != root ] || continue
	[ "$old" = 1 ] || recorded '^create .*path=./workspace/new\].*io=.direct.'
	recorded 'path=./workspace/both.*io=.cached.'
	recorded 'path=./workspace/held.*io=.cached.'
done
