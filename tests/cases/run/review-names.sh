#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random changes of names and contents in a review session: what an apply makes of the project is
# what the session saw, and an undo makes it what it was. 60 seeds, with --long 400.
# timeout: 3600
set -eu
. "$WARD_SRC/tests/lib.sh"
seeds=60
[ -z "${WARD_LONG-}" ] || seeds=400
mkdir "$WARD_TMP/work"
cd "$WARD_TMP/work"
python3 "$WARD_SRC/tests/cases/run/lib/review-names.py" "$WARDFS" 1 "$seeds"
# A file goes, its directory is renamed, and another directory comes to the name. A new file gets a
# second name, which a file of the project had.
for seed in 1004 1025 2012; do
	python3 "$WARD_SRC/tests/cases/run/lib/review-names.py" "$WARDFS" "$seed" 1
done
