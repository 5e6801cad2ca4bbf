#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Handles of one inode must agree on who reads and writes, else the kernel answers EIO. Two queues
# of io_uring open each of many files at once for the first time, while every fourth file that the
# daemon opens is refused: one that got no backing id must not go to the page cache beside one that
# did.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

ENOSPC=28
ROUNDS=2000
RULES=$WARD_TMP/rules
cp "$WARD_SRC/tests/cases/fs/lib/agree.py" "$WARD_TMP/agree.py"
policy
fresh
echo "openat2 $ENOSPC 4" >"$RULES"
as_owner python3 -c "
for i in range($ROUNDS): open('$BACK/f%d' % i, 'w').close()"
rc=0
WARD_TRANSPORT=io_uring "$FSMOUNT" -m root -o $OWNER:$OWNER -F "$RULES" -l "$EVENTS" "$POLICY" \
	"$BACK" "$MNT" python3 "$WARD_TMP/agree.py" $ROUNDS $ENOSPC || rc=$?
[ $rc != 77 ] || skip "this kernel has no FUSE over io_uring"
[ $rc = 0 ] || fail "status $rc"
# Both kinds were there: else this tests nothing.
recorded 'path=./workspace/f[0-9]+.*io=.passthrough'
recorded 'path=./workspace/f[0-9]+.*io=.cached'
