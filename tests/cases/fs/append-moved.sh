#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Old handles and mappings cannot change a file that has moved into an append area: wardfs refuses
# to rename or link such a file there (EXDEV, so mv copies it).
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/append-moved.py" "$WARD_TMP/moved.py"
for mode in $MODES; do
	policy 'append = /workspace/log'
	fresh
	passed=$(passthrough $mode)
	[ $mode = root ] || [ "$passed" = no ] || fail "$mode: control: passthrough"
	as_owner sh -c "cd '$BACK' && mkdir log free"
	in_mode $mode -c "exec python3 '$WARD_TMP/moved.py' $passed" || fail "$mode"
	recorded '^deny .*action=\[rename\] path=\[/workspace/b\] path2=\[/workspace/log/b\].* errno=18'
	recorded '^deny .*action=\[rename\] path=\[/workspace/d\] path2=\[/workspace/log/d\].* errno=18'
	recorded '^deny .*action=\[link\] path=\[/workspace/b\] path2=\[/workspace/log/b\].* errno=18'
done
