#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Chains of renames, of which each makes room for another one: applied and undone. The printed seed
# repeats a run.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"
count=60
[ -z "${WARD_LONG-}" ] || count=1000
fresh
python3 "$WARD_SRC/tests/cases/run/lib/review-chains.py" "$WARDFS" 1 1
fresh
# One that had been applied, and was not undone, before.
python3 "$WARD_SRC/tests/cases/run/lib/review-chains.py" "$WARDFS" "$count" 7
fresh
python3 "$WARD_SRC/tests/cases/run/lib/review-chains.py" "$WARDFS" "$count"
