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

# The engine that made a connection, of one trail and of the index over all.
for which in all ''; do
	# shellcheck disable=SC2086 # no word for all of them
	expect 0 audit network $which --json
	printf '%s\n' "$OUT" >rows
	via=$(python3 -c 'import json; print(*{r["via"] for r in json.load(open("rows")) if r["via"]})')
	[ -n "$via" ] || fail "network '$which': no row has via: $OUT"
	# shellcheck disable=SC2086
	expect 0 audit network $which
	has "$OUT" " via $via"
done
