#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs mount --allow-other`: one user may do with another user's files exactly what the backing
# would allow. The test makes each attempt on the backing and in the mount and compares: sticky,
# setgid and closed directories, modes, ACLs, attributes, descriptors from the other user, locks,
# and root of a user namespace.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

command -v setfacl >/dev/null || skip "no setfacl"
policy
fresh
chmod 755 "$BACK"
"$FSMOUNT" -m other "$POLICY" "$BACK" "$MNT" python3 "$WARD_SRC/tests/cases/fs/lib/users-agree.py" "$BACK" ||
	fail "users do not agree"
