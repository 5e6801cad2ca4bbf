#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guard holds the kernel memory for POSIX locks, so each command gets a limited number, and
# gets them back after it releases its locks.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/locks-many.py" "$WARD_TMP/many.py"
chmod 755 "$WARD_TMP"
# The control: the file system beneath gives more.
[ "$(cd "$WARD_TMP" && python3 many.py one 10000)" = 10000 ] || fail "control: 10000 locks natively"
script many <<END
python3 "$WARD_TMP/many.py" \$1
END
for mode in $MODES; do
	policy
	fresh
	what="file"
	[ "$mode" != root ] || what="all"
	in_mode "$mode" "$WARD_TMP/many" $what || fail "$mode: many"
done
