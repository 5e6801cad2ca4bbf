#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
# `wardfs mount --allow-other`: what one user may do with the files of another is what the backing
# would let it. Sticky, setgid and closed directories, modes, ACLs, attributes, descriptors that
# come from the other user, locks, and a user who is root in a namespace: each attempt is made on
# the backing and in the mount, and the answers are compared.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

command -v setfacl >/dev/null || skip "no setfacl"
policy
fresh
chmod 755 "$BACK"
"$FSMOUNT" -m other "$POLICY" "$BACK" "$MNT" python3 "$WARD_SRC/tests/cases/fs/lib/users-agree.py" "$BACK" ||
	fail "users do not agree"
