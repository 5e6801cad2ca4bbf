#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of any process at random points of a review session, of marks and steps back, of applies
# and undoes: 30 points, with --long 1,000. The printed seed repeats a run.
# timeout: 14400
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v strace >/dev/null || skip "no strace"
[ "$(id -u)" = 0 ] || skip "no ordinary user may trace wardfs"
points=30
[ -z "${WARD_LONG-}" ] || points=1000
python3 "$WARD_SRC/tests/cases/run/lib/review-killed.py" "$WARDFS" "$points"
