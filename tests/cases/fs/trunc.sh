#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# O_TRUNC with O_RDONLY truncates where writing is allowed, as Linux does, and nowhere else.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/trunc.py" "$WARD_TMP/trunc.py"
policy 'read = /workspace/ro'
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && mkdir ro && printf data >plain && cp plain ro/f &&
		cp plain mode && chmod 444 mode"
	in_mode $mode -c "exec python3 '$WARD_TMP/trunc.py'" || fail "$mode"
done
