#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Some seventy ways to change a file, its attributes or its name, each tried in a read-only, an
# append-only, a denied and a hidden directory. The content stays, and hidden files do not exist.
# The control is the same attempt in a writable directory.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64 (numbers of system calls)"

cp "$WARD_SRC/tests/cases/fs/lib/ways.py" "$WARD_TMP/ways.py"
cp "$WARD_SRC/tests/cases/fs/lib/ways-make.py" "$WARD_TMP/make.py"
for mode in $MODES; do
	for where in free ro log closed hid; do
		policy 'append = /workspace/log' 'read = /workspace/ro' 'deny = /workspace/closed' 'hide = /workspace/hid'
		fresh
		as_owner python3 "$WARD_TMP/make.py" "$BACK" $where
		in_mode $mode -c "exec python3 '$WARD_TMP/ways.py' $where '$BACK'" || fail "$mode $where"
	done
done
