#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A full disk in a session, at marks, steps back, applies and undos: each file is as before or as
# after. With room again the same command finishes. 40 random points, with --long 1,000.
# timeout: 7200
set -eu
. "$WARD_SRC/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
unshare --mount --propagation private sh "$WARD_SRC/tests/cases/run/lib/review-full-disk.sh"
unshare --mount --propagation private sh "$WARD_SRC/tests/cases/run/lib/review-full-steps.sh"
unshare --mount --propagation private sh "$WARD_SRC/tests/cases/run/lib/review-full-random.sh"
