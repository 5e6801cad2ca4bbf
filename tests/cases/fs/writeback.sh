#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel writes back a mapping's pages while other threads of the same program open, look up
# and create files, execute programs and are listed by others. The daemon must not wait for that
# program's memory (reading its command line would). If a thread hangs, so does this test.
# suites: tsan
# timeout: 600
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
