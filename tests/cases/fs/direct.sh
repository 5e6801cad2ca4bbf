#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program writes to a file asynchronously and with O_DIRECT while others read it through the page
# cache: nobody finds old data after the write. The control is the same natively.
# plain
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/direct.py" "$WARD_TMP/direct.py"
# shellcheck disable=SC2119 # as it is
policy
fresh
(cd "$BACK" && as_owner python3 "$WARD_TMP/direct.py" 1) || fail "control: natively"
for mode in $MODES; do
	fresh
	in_mode "$mode" -c "exec python3 '$WARD_TMP/direct.py' ${WARD_LONG:+3}5" || fail "$mode"
done
