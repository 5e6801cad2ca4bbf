#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All handles of one inode must agree on how the file is read and written, or the kernel answers
# EIO. Here two io_uring queues open many files at once for the first time, and the daemon fails
# to register every fourth one. A handle without a backing id must not use the page cache beside a
# handle that has one.
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
