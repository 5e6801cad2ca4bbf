#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records of every kind, with every member, fit the published schema. The schema allows no other
# kind, and the format page names them all.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

run --session all --events 20 --every
kinds=$(python3 -c 'import json, sys
print(len(json.load(open(sys.argv[1]))["properties"]["kind"]["enum"]))' "$WARD_SRC/docs/audit-record.schema.json")
# 20 events, and of each kind a record without members and one with all: one more is the start, one
# less the end.
[ "$(state_of all)" = "gap $((20 + 2 * kinds)) 0" ] || fail "one of each kind, a gap among them: $(state_of all)"
python3 "$WARD_SRC/tests/cases/audit/lib/schema-check.py" "$WARD_SRC/docs" "$STATE/sessions/all/trail.jsonl" || fail "schema"
