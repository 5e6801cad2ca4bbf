#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file with the right to append keeps its content, whatever the agent tries. The control is the
# same attempt in a writable directory.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/append.py" "$WARD_TMP/append.py"
for mode in $MODES; do
	for where in free log; do
		policy 'append = /workspace/log'
		fresh
		as_owner sh -c "mkdir '$BACK/log' '$BACK/free' && echo >'$BACK/log/log' && echo >'$BACK/free/log'"
		in_mode $mode -c "exec python3 '$WARD_TMP/append.py' $where '$BACK'" || fail "$mode $where"
	done
	recorded '^deny .*action=\[truncate\] path=\[/workspace/log/log\]'
	recorded '^deny .*action=\[unlink\] path=\[/workspace/log/log\]'
	recorded '^deny .*action=\[open\] path=\[/workspace/log/log\]'
done
