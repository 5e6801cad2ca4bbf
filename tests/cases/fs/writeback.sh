#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suites: tsan
# timeout: 600
# The pages of a mapping are written back while other threads of the same program open, look up and
# make files, exec and are listed by others: nothing of what the daemon does for them waits for that
# program's memory (reading its command line would). Where a thread hangs, the case does.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/writeback-dirty.py" "$WARD_TMP/dirty.py"
for mode in $MODES; do
	policy 'deny = /workspace/closed'
	fresh
	as_owner sh -c "cd '$BACK' && echo c >closed && cp /bin/true prog"
	in_mode "$mode" -c "exec python3 '$WARD_TMP/dirty.py' '$BACK'" || fail "$mode"
	recorded '^deny .*action=\[open\] path=\[/workspace/closed\]'
done
