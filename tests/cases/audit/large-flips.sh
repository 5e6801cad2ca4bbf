#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A large log: verify finds a flipped bit anywhere and names the record, also in the last byte of
# a line. With --long, a hundred thousand records and two hundred places.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

events=${WARD_LONG:+33332}
flips=${WARD_LONG:+200}
run --session large --events "${events:-6000}" --threads 3
records=$((${events:-6000} * 3 + 2))
[ "$(state_of large)" = "intact $records 0" ] || fail "control: $(state_of large)"
vkey=$(audit key show)
cp "$WARD_SRC/tests/cases/audit/lib/large-flips.py" flip.py
python3 flip.py "$WARD_BUILD/wardfs" "$STATE" "$vkey" "${flips:-16}" "$records" || fail "a flip"
[ "$(state_of large)" = "intact $records 0" ] || fail "not what it was: $(state_of large)"
