#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel's memory for POSIX locks is the guard's: a command gets so many and no more, and has
# them again once it has given them back.
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
