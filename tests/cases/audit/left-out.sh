#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Questions over many sessions take the index's answer only if the index has each session of the
# ledger. Whatever is missing, there or on disk, is found in the trails or named.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

"$WARD_BUILD/tests/support/manysessions" "$STATE" 901
sqlite() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect("state/index.sqlite", isolation_level=None)
print(*(c for row in db.execute(sys.argv[1]) for c in row))' "$1"
}
# Beyond the 4096th session the index made, nobody looks at the files of each trail.
many() {
	[ "$(sqlite 'SELECT max(id) FROM session')" -gt 4096 ] && return
	for column in record.session net.session tally.session label.session about.session session.id; do
		sqlite "UPDATE ${column%.*} SET ${column#*.} = ${column#*.} + 5000"
	done
}
# told LABELLED HELD [SAID]: s000000 and s000750 have the label; what is missing is said
told() {
	rc=0
	[ -z "${3-}" ] || rc=125
	expect $rc audit list --json --label ticket=A-17
	names=$(echo "$OUT" | python3 -c 'import json, sys; print(*(s["session"] for s in json.load(sys.stdin)))')
	[ "$names" = "$1" ] || fail "labelled: $names"
	[ -z "${3-}" ] || has "$ERR" "$3"
	[ -n "${3-}" ] || hasnt "$ERR" "left out"
	[ -n "${3-}" ] || rc=1
	expect $rc audit guarantees --json
	held=$(echo "$OUT" | python3 -c 'import json, sys
g = json.load(sys.stdin); i = g["guarantees"]["integrity"]
print(g["sessions"], i["held"], *sorted(m["session"] for m in i["missing"]))')
	[ "$held" = "$2" ] || fail "held: $held"
	[ -z "${3-}" ] || has "$ERR" "$3"
	[ -n "${3-}" ] || rc=0
	expect $rc audit network
	[ -z "${3-}" ] || has "$ERR" "$3"
	expect $rc audit sql 'SELECT count(*) FROM sessions'
	[ -z "${3-}" ] || has "$ERR" "$3"
}
again() {
	rm -rf state
	cp -a good state
	audit index >/dev/null
	many
}

audit index >/dev/null
echo "--- up to 4096 sessions each trail is looked at: the control"
all="s000000 s000750"
told "$all" "901 899 s000000 s000900"
cp -a state good
many
told "$all" "901 899 s000000 s000900"
expect 0 audit list --json --label ticket=A-17 --label a=b
[ "$OUT" = "[]" ] || fail "two labels: $OUT"
expect 0 audit list --json --audit-session 900
has "$OUT" '"s000900"'
expect 0 audit list --json --login 1000 --audit-session 901
hasnt "$OUT" '"s000900"'
expect 1 audit guarantees --json --audit-session 900
has "$OUT" '"sessions": 1'

echo "--- a directory went"
rm -r state/sessions/s000750
told "s000000" "900 898 s000000 s000900" "left out 1 session whose trail is missing or damaged: s000750 (its trail is missing)"

echo "--- as many directories as the ledger has sessions, one of them of another name"
again
mv state/sessions/s000900 state/sessions/z000900
told "$all" "901 899 s000000 z000900" "s000900 (its trail is missing)"

echo "--- rows of the index went: the trails have the answer"
again
for table in record net tally label about; do
	sqlite "DELETE FROM $table WHERE session = (SELECT id FROM session WHERE name = 's000750')"
done
sqlite "DELETE FROM session WHERE name = 's000750'"
[ -z "$(sqlite "SELECT name FROM session WHERE name = 's000750'")" ] || fail "the row is still there"
expect 0 audit list --json --label ticket=A-17
has "$OUT" '"s000750"'
expect 1 audit guarantees --json
has "$OUT" '"sessions": 901'

echo "--- the index has other numbers of records than the ledger"
again
sqlite "UPDATE session SET records = 7 WHERE name = 's000003'"
sqlite "UPDATE session SET sum = sum + 1 WHERE name = 's000003'"
expect 125 audit network
has "$ERR" "s000003 (its trail has 7 of 8 records)"

echo "--- removed, on hold, without an end: said so, and what is left is complete"
again
expect 0 audit hold --reason trial s000001
expect 0 audit remove --force --reason old s000750
run --session running --events 3 --die
expect 0 audit list --json --label ticket=A-17
has "$ERR" "left out 1 session whose trail is gone by the ledger: s000750 (removed"
hasnt "$OUT" '"s000750"'
has "$OUT" '"s000000"'
expect 1 audit guarantees --json
has "$ERR" "s000750 (removed"
has "$OUT" '"sessions": 901'
rm -r state/sessions/running
expect 125 audit list --json --label ticket=A-17
has "$ERR" "running (its trail is missing)"
expect 125 audit guarantees --json
has "$ERR" "running (its trail is missing)"
has "$ERR" "left out 1 session whose trail is missing"

echo "--- no index, and the answer is the same"
rm -rf state
cp -a good state
rm state/index.sqlite
expect 0 audit list --json --label ticket=A-17
has "$OUT" '"s000750"'
hasnt "$ERR" "left out"
