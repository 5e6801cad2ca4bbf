#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A store through a shared mapping changes its file's times. They show at once after msync(2),
# fsync(2) and close(2), also where the kernel maps the backing's file (passthrough).
# plain
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/stores.py" "$WARD_TMP/stores.py"
# shellcheck disable=SC2119 # as it is
policy
for mode in $MODES other; do
	fresh
	chmod 777 "$BACK"
	as_owner sh -c "head -c 4096 /dev/zero >'$BACK/f'"
	in_mode "$mode" -c "exec python3 '$WARD_TMP/stores.py' '$BACK'" || fail "$mode: stores"
done
