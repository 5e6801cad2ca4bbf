#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs audit show` prints every member of a record, and CSV has a column for each. The test's
# records have all members of their kind. Existing CSV columns keep their place.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session all --events 20 --every
run --session plain --events 5
audit show all >shown 2>err || fail "show: $(cat err)"
audit show plain >plain 2>err || fail "show: $(cat err)"
audit export --format csv all >all.csv || fail "csv"
python3 "$WARD_SRC/tests/cases/audit/lib/every-member-printed.py" \
	"$WARD_SRC/docs/audit-record.schema.json" state/sessions/all/trail.jsonl || fail "see above"
