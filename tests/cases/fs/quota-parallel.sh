#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suites: tsan
# timeout: 1800
# [quota] with sixteen writers at once, each with files of its own and one that all share, that are
# cut, linked, replaced and removed while they are open: the bytes that are there never exceed the
# quota, in any of two nested ones, and all of it is free again at the end. Beside them somebody
# looks at what is there on the backing, whose sizes are the truth.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota-parallel.py" "$WARD_TMP/parallel.py"
rounds=${WARD_LONG:+4000}
for mode in $MODES; do
	policy '[quota /workspace]' 'growth = 600000' '[quota /workspace/in]' 'growth = 250000'
	fresh
	as_owner mkdir "$BACK/in" "$BACK/a"
	in_mode $mode -c "exec python3 '$WARD_TMP/parallel.py' '$BACK' ${rounds:-50}" || fail "$mode"
	recorded '^quota .*quota=\[/workspace/in\] name=\[growth\] limit=250000'
done
