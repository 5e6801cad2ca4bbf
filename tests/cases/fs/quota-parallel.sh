#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [quota] with sixteen writers at once: each has its own files, and all share one, which they
# truncate, link, replace and remove while it is open. The bytes on the backing, which another
# process watches, never exceed either of two nested quotas, and at the end all of it is free
# again.
# suites: tsan
# timeout: 1800
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
