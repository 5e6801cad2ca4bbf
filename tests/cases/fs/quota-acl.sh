#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [quota] growth counts ACLs that files inherit from their directory, because each is a copy. The
# control is the first run, without a quota.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota-acl.py" "$WARD_TMP/acl.py"
# Without root the kernel passes no ACLs.
for mode in root cached; do
	for quota in free full; do
		if [ $quota = full ]; then policy '[quota /workspace]' 'growth = 1M'; else policy; fi
		fresh
		as_owner mkdir "$BACK/probe"
		python3 -c "
import os, struct
os.setxattr('$BACK/probe', 'system.posix_acl_default', struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in
    ((1, 7, 0xffffffff), (2, 7, 1), (4, 7, 0xffffffff), (16, 7, 0xffffffff), (32, 0, 0xffffffff))))" ||
			skip "no ACLs in $WARD_TMP"
		rmdir "$BACK/probe"
		in_mode $mode -c "exec python3 '$WARD_TMP/acl.py' $quota" || fail "$mode $quota"
	done
	recorded '^quota .*action=\[create\] path=\[/workspace/d/[0-9]*\] .*text=\[\[quota /workspace\] growth = 1M\] errno=122'
done
