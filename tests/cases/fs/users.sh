#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs mount --allow-other`: a user who takes all open files, waits for locks, or takes many
# ranges leaves the other users theirs. wardfs names the resource that ran out.
# timeout: 120
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# Few descriptors, which the daemon cannot make more: as root it would raise the limit.
script inside <<END
exec python3 "$WARD_SRC/tests/cases/fs/lib/users.py"
END
policy
fresh
chmod 777 "$BACK"
setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource prlimit --nofile=1200:1200 \
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" sh "$WARD_TMP/inside" || fail "users"
