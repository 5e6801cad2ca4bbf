# SPDX-License-Identifier: Apache-2.0
# Part of ../review-full.sh, in a mount namespace of its own: a project, a state directory
# and what is staged on small file systems, which are full at random points.
set -eu
. "$WARD_SRC/tests/lib.sh"
count=40
[ -z "${WARD_LONG-}" ] || count=1000
mkdir "$WARD_TMP/small" "$WARD_TMP/random"
mount -t tmpfs -o size=12M,mode=755 tmpfs "$WARD_TMP/small"
mount -t tmpfs -o size=48M,mode=755 tmpfs "$WARD_TMP/random"
mkdir -p "$WARD_TMP/random/wardfs/reviews"
mount -t tmpfs -o size=48M,mode=755 tmpfs "$WARD_TMP/random/wardfs/reviews"
XDG_STATE_HOME=$WARD_TMP/random
export XDG_STATE_HOME
cd "$WARD_TMP/small"
# shellcheck disable=SC2086
python3 "$WARD_SRC/tests/cases/run/lib/review-full-random.py" "$WARDFS" "$count" \
	"$WARD_TMP/random" "$WARD_TMP/random/wardfs/reviews" ${WARD_SEED-}
