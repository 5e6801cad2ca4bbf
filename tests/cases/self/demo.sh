#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demonstration of `./bootstrap run` reports whether everything in it behaved.
# timeout: 1800
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
PYTHONDONTWRITEBYTECODE=1 python3 "$WARD_SRC/tests/demo/demo.py" "$WARD_BUILD" >out 2>&1 || {
	cat out
	exit 1
}
grep -q 'All of this behaved as it should' out || {
	cat out
	exit 1
}
